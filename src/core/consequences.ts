import { canonicalSymbol } from './shared/symbol.ts'
import type { Command } from './decide.ts'
import { observedBar, type ObservedBar } from './market/bar.ts'
import { intentId, type PositionId } from './shared/brand.ts'
import { blocksEntries, blocksExits, KILL_SWITCH } from './shared/level.ts'
import { priceFrom } from './shared/money.ts'
import { PAPER } from './trading/orders/orders.ts'
import { isSignal, type KnownEvent, type StoredSignal } from './events/catalogue.ts'

/** The wiring of the engine: the commands that follow from an event, in the same batch. */
export const consequencesOf = (event: KnownEvent): readonly Command[] => {
  switch (event.type) {
    case 'system.started.v1': {
      const { node_id: nodeId, public_key: publicKey, ephemeral, integrity } = event.payload
      const welcome: Command = { kind: 'welcome-node', node: { nodeId, publicKey, ephemeral } }
      // The engine does not trade on a log that fails verification.
      if (!integrity.ok)
        return [welcome, { kind: 'escalate', to: KILL_SWITCH.lockdown, cause: DAMAGED_LOG }, CHECK]
      return [welcome, CHECK]
    }
    case 'system.clock_jumped.v1': {
      const { jump_seconds: value, limit_seconds: threshold } = event.payload
      const triggers = [{ name: 'clock_jump_seconds', value, threshold }]
      return [{ kind: 'escalate', to: KILL_SWITCH.caution, cause: { reason: 'clock_jumped', triggers } }]
    }
    case 'system.restore.v1':
      // The copy lacks trades made after it. No new position until an operator has compared the account.
      return [{ kind: 'escalate', to: KILL_SWITCH.crisis, cause: RESTORED_LOG }]
    case 'market.bar.v1':
      return commandsAfterBar(observedBar(event.payload, event.payload.feed))
    case 'brain.conviction.v1': {
      const { symbol, direction, decision } = event.payload
      return decision.action === 'exit' && direction !== 'neutral'
        ? [{ kind: 'exit-symbol', symbol: canonicalSymbol(symbol), direction }]
        : []
    }
    case 'execution.trade_intent.v1':
      return [{ kind: 'execute-intent', intentId: intentId(event.id) }]
    case 'execution.intent_approved.v1':
      return [{ kind: 'execute-intent', intentId: event.payload.intent_id }]
    case 'execution.position_opened.v1':
      return event.payload.platform === PAPER ? [] : [protect(event.payload.position_id)]
    case 'execution.position_updated.v1':
      return STOP_MOVED.has(event.payload.reason) ? [protect(event.payload.position_id)] : []
    case 'execution.position_closed.v1':
      return [
        ...(event.payload.mode === 'live' ? [protect(event.payload.position_id)] : []),
        { kind: 'record-outcome', close: event.payload },
        { kind: 'settle-position', positionId: event.payload.position_id },
        { kind: 'accrue-shares', close: event.payload },
      ]
    case 'karma.intent.v1':
      return [{ kind: 'settle-due-shares' }]
    case 'system.kill_switch.v1': {
      const { level, prev_level: before } = event.payload
      if (blocksEntries(level)) return [{ kind: 'cancel-entries', reason: 'kill_switch' }]
      return blocksExits(before) ? [CHECK] : []
    }
    default:
      return isSignal(event) ? afterSignal(event) : []
  }
}

/** Events that change money, marks, regime or rules. Risk is assessed once per command, after all its consequences. */
export const touchesRisk = (event: KnownEvent): boolean => {
  switch (event.type) {
    case 'market.bar.v1':
      return !event.payload.backfill
    case 'execution.order_filled.v1':
    case 'execution.position_updated.v1':
    case 'execution.position_adopted.v1':
    case 'execution.position_closed.v1':
    case 'execution.funding_applied.v1':
    case 'execution.loss_unexplained.v1':
    case 'brain.regime_change.v1':
    case 'brain.cycle.v1':
    case 'system.config_changed.v1':
    case 'system.started.v1':
      return true
    default:
      return false
  }
}

const CHECK: Command = { kind: 'check-positions' }

/** Updates after which the stop at the venue must be replaced. */
const STOP_MOVED: ReadonlySet<string> = new Set(['filled', 'trailing', 'released'])

/** Moves the stop at the venue along with the position. */
const protect = (positionId: PositionId): Command => ({ kind: 'protect-position', positionId })

/** Commands that follow from a bar. Order matters: resting orders, then open positions, then calls due. */
export const commandsAfterBar = ({ symbol, bar }: ObservedBar): readonly Command[] => {
  if (bar.backfill) return []
  const { open, high, low, close, volume, open_ts: openTs, close_ts: closeTs } = bar
  return [
    { kind: 'fill-resting', bar: { symbol, close, volume, closeTs } },
    { kind: 'watch-bar', symbol, seen: { kind: 'bar', open, high, low, close, openTs, ts: closeTs } },
    { kind: 'settle-bar', bar: { symbol, close, closeTs } },
  ]
}

const afterSignal = ({ type, payload, source, ts }: StoredSignal): readonly Command[] => {
  const { symbol, price } = payload
  if (type !== 'signal.price_ws.v1' || source === null) return []
  if (typeof symbol !== 'string' || typeof price !== 'number' || !(price > 0)) return []
  return [
    {
      kind: 'watch-quote',
      quoted: { symbol: canonicalSymbol(symbol), price: priceFrom(price), ts, producer: source },
    },
  ]
}

/** Why a log that does not verify locks the engine. */
export const DAMAGED_LOG = { reason: 'integrity_failed', triggers: [] } as const

const RESTORED_LOG = { reason: 'log_restored', triggers: [] } as const
