import type { PayloadOf } from '../../core/events/catalogue.ts'
import type { Command } from '../../core/decide.ts'
import type { BaseRates } from '../../core/reputation/base-rates.ts'
import { barsLeftOver } from '../../core/reputation/settle-calls.ts'
import type { Stamped } from '../../core/log/event.ts'
import {
  accrualId,
  contributorId,
  intentId,
  nodeId,
  orderId,
  positionId,
  timestampOf,
  type NodeId,
} from '../../core/shared/brand.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import { DAMAGED_LOG } from '../../core/consequences.ts'
import { KILL_SWITCH, killSwitchLevel } from '../../core/shared/level.ts'
import { priceFrom } from '../../core/shared/money.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { scopedKey } from '../../core/signals/dedupe-keys.ts'
import type { ProducedSignal } from '../../core/signals/producer-runs.ts'
import type { State } from '../../core/state.ts'
import { PAPER } from '../../core/trading/orders/orders.ts'
import { observation, isObservation } from './observations.ts'
import { proposals } from './proposals.ts'
import { venueReports } from './venue-reports.ts'

/** Possible origin of the next events of a batch: a command, or events that are facts from outside. */
export type Attempt =
  /** `isUntraced`: the request had no trace of its own, while a cycle gives one to its events. */
  | { readonly kind: 'command'; readonly command: Command; readonly isUntraced: boolean }
  | { readonly kind: 'given'; readonly events: number }

/** Inputs of the audit beside the state: see `barsLeftOver`. */
interface Remembered {
  /** Base rates before the latest bars. */
  readonly rates: BaseRates
}

/** All possible origins of the next events, most likely first. */
export const attemptsAt = (
  state: State,
  rest: readonly Stamped[],
  { rates }: Remembered,
): readonly Attempt[] => {
  const [first] = rest
  if (first === undefined) return []
  const commands = commandsAt(state, first, rest, rates).flatMap((command) =>
    (command.kind === 'run-cycle' ? [false, true] : [false]).map((isUntraced): Attempt => ({
      kind: 'command',
      command,
      isUntraced,
    })),
  )
  return isFact(state, first) ? [...commands, { kind: 'given', events: 1 }] : commands
}

const commandsAt = (
  state: State,
  first: Stamped,
  rest: readonly Stamped[],
  rates: BaseRates,
): readonly Command[] => {
  const { type, payload, source } = first
  if (type.startsWith('signal.')) return signalCommands(state, rest)
  switch (type) {
    case 'market.bar.v1':
    case 'market.bar_held.v1':
      return [observation(state, rest)]
    case 'system.audit.v1':
      return isObservation(rest) ? [observation(state, rest)] : []
    case 'system.clock_jumped.v1':
      return [{ kind: 'record-clock-jump', jump: payload as unknown as PayloadOf<typeof type> }]
    case 'producer.run.v1':
      return [...producerRun(rest), { kind: 'notice-stale-producers' }]
    case 'brain.regime_change.v1':
    case 'brain.conviction.v1':
    case 'brain.cycle.v1':
      return [...cycle(rest), { kind: 'watch-regime' }]
    case 'learning.weight_adjustment.v1':
      return [learning(first)]
    case 'system.kill_switch.v1':
      return [...operatorMove(payload, source), lockdown]
    case 'attribution.resolved.v1':
    case 'attribution.measured.v1':
      return [
        ...barsLeftOver(state).map((bar): Command => ({ kind: 'settle-bar', bar: { ...bar, rates } })),
        { kind: 'settle-overdue' },
      ]
    case 'karma.settlement.v1':
      return [{ kind: 'settle-due-shares' }, ...settlement(payload)]
    case 'execution.funding_applied.v1':
      return funding(state, first)
    default:
      return type.startsWith('execution.') || type.startsWith('alert.') ? tradingCommands(state, rest) : []
  }
}

const isPartOfSignals = ({ type }: Stamped): boolean =>
  type.startsWith('signal.') || type === 'attribution.recorded.v1'

const signalCommands = (state: State, rest: readonly Stamped[]): readonly Command[] => {
  const [signal, recorded] = rest
  if (signal === undefined) return []
  const { type, payload, ts, source, dedupeKey } = signal
  const end = rest.findIndex((event) => !isPartOfSignals(event))
  const isRun = end !== -1 && rest[end]?.type === 'producer.run.v1' && rest[end]?.source === source
  const producers = isRun ? producerRun(rest) : []
  const attribution = recorded?.type === 'attribution.recorded.v1' ? recorded.payload : {}
  const { signature: given, contributor_id: contributor, node_id: node } = attribution
  const signature = typeof given === 'string' ? given : undefined
  const emission = {
    kind: 'emit-signal',
    emission: {
      producerId: source ?? '',
      type,
      payload,
      ts,
      signature,
      dedupeKey:
        keyAfter(dedupeKey, scopedKey('emit', source ?? '', '')) ??
        keyAfter(dedupeKey, `submit:${textOf(contributor)}:`),
    },
  } as const
  if (typeof node !== 'string' || typeof contributor !== 'string') return [...producers, emission]
  const submission = {
    kind: 'submit-signal',
    submission: {
      eventType: type,
      nodeId: nodeOf(state, contributor) ?? nodeId(node),
      ts,
      source,
      payload,
      dedupeKey: keyAfter(dedupeKey, `submit:${contributor}:`),
      signature,
    },
  } as const
  return [...producers, submission, emission]
}

const nodeOf = ({ signals }: State, id: string): NodeId | undefined =>
  signals.contributors.byId.get(contributorId(id))?.nodeId

const keyAfter = (key: string | null, prefix: string): string | null =>
  key?.startsWith(prefix) === true ? key.slice(prefix.length) : null

/** All possible results of a run. The log does not record which it was, but the recorded health distinguishes them. */
const producerRun = (rest: readonly Stamped[]): readonly Command[] => {
  const run = rest.find((event) => !isPartOfSignals(event))
  if (run?.type !== 'producer.run.v1') return []
  const { name, error, rejected, duration_ms } = run.payload
  const rows = rest
    .slice(0, rest.indexOf(run))
    .filter(({ type }) => type.startsWith('signal.'))
    .map(({ type, payload, ts, dedupeKey }): ProducedSignal => ({
      type,
      payload,
      ts,
      dedupeKey: dedupeKey ?? '',
    }))
  const report = {
    name: textOf(name),
    rows,
    rejected: rejected as unknown as readonly { readonly index: number; readonly reason: string }[],
    error: typeof error === 'string' ? error : null,
    durationMs: Number(duration_ms),
  }
  return (['usable', 'unusable', 'error'] as const).map((end): Command => ({
    kind: 'run-producer',
    report: { ...report, end },
  }))
}

const cycle = (rest: readonly Stamped[]): readonly Command[] => {
  const end = rest.find(({ type }) => type === 'brain.cycle.v1')
  if (end === undefined) return []
  const { cycle_id, trigger, as_of, awaited } = end.payload as unknown as PayloadOf<'brain.cycle.v1'>
  return [
    {
      kind: 'run-cycle',
      cycleId: textOf(cycle_id),
      trigger,
      ...(as_of === undefined ? {} : { asOf: as_of }),
      ...(awaited === undefined ? {} : { awaited }),
    },
  ]
}

const learning = ({ payload, dedupeKey }: Stamped): Command => {
  const { trigger } = payload
  const due = keyAfter(dedupeKey, 'learning:')
  const cause =
    trigger === 'schedule' && due !== null
      ? ({ trigger, due: timestampOf(due) } as const)
      : { trigger: trigger as 'api' | 'cli' }
  return { kind: 'run-learning', cause }
}

const operatorMove = (payload: JsonObject, source: string | null): readonly Command[] => {
  const { reason, triggered_by, reset_by } = payload
  const level = killSwitchLevel.safeParse(payload['level']).data
  const operator = reset_by ?? triggered_by
  if (level === undefined || typeof operator !== 'string') return []
  const surface = source === 'cli.kill_switch' ? 'cli' : 'api'
  return [{ kind: 'set-kill-switch', move: { level, reason: textOf(reason), operator, surface } }]
}

/** A running process locks itself when it finds an event without a signature of an accepted key. */
const lockdown: Command = { kind: 'escalate', to: KILL_SWITCH.lockdown, cause: DAMAGED_LOG }

/** The request looked up which of its ids were settled already. The log lists them among the skipped ones. */
const settlement = (payload: JsonObject): readonly Command[] => {
  const { requested_ids: requested, skipped, tx_hash: txHash } = payload
  if (!Array.isArray(requested) || !Array.isArray(skipped)) return []
  const ids = (requested as readonly Json[]).map((id) => accrualId(textOf(id)))
  const settledIds = (skipped as readonly JsonObject[])
    .filter(({ reason }) => reason === 'already_settled')
    .map(({ id }) => accrualId(textOf(id)))
  const hash = typeof txHash === 'string' ? txHash : null
  return [
    {
      kind: 'settle-shares',
      request: { intentIds: ids, txHash: hash },
      status: { isRepeated: false, settledIds },
    },
  ]
}

/**
 * The key contains the due time, which is slightly before the time of the charge. Any venue may report its charges
 * itself.
 */
const funding = ({ trading }: State, { dedupeKey }: Stamped): readonly Command[] => {
  const due = keyAfter(dedupeKey, 'funding:')
  if (due === null) return []
  const at = timestampOf(due.slice(0, Math.max(0, due.lastIndexOf(':'))))
  const venues = new Set([...trading.positions.values()].map(({ terms }) => terms.platform))
  return [undefined, ...venues].map((reportedBy): Command => ({ kind: 'apply-funding', at, reportedBy }))
}

/** Commands of strategies, the clock, operators, or a price between two bars. */
const tradingCommands = (state: State, rest: readonly Stamped[]): readonly Command[] => [
  ...proposals(state, rest),
  ...venueReports(state, rest),
  { kind: 'check-positions' },
  { kind: 'expire-intents' },
  { kind: 'retry-exits' },
  { kind: 'end-overdue-exits' },
  { kind: 'keep-protective-stops' },
  ...denial(rest),
  ...cancellation(rest),
  ...resumption(rest),
  ...operatorExit(rest),
  ...tick(rest),
]

const denial = ([first]: readonly Stamped[]): readonly Command[] => {
  const details = first?.payload['details'] as JsonObject | undefined
  const { denied_by: operator, note = null } = details ?? {}
  if (first === undefined || typeof operator !== 'string') return []
  const surface = first.source === 'cli' ? 'cli' : 'api'
  const id = intentId(textOf(first.payload['intent_id']))
  const reason = typeof note === 'string' ? note : null
  return [{ kind: 'deny-intent', decision: { intentId: id, operator, note: reason, surface } }]
}

/** Manual cancellation of an order. On paper, the engine itself cancels it. */
const cancellation = ([first]: readonly Stamped[]): readonly Command[] => {
  const { order_id: id, reason, requested_by: operator } = first?.payload ?? {}
  const surface = (['api', 'cli'] as const).find((name) => name === first?.source)
  if (surface === undefined) return []
  const request = {
    orderId: orderId(textOf(id)),
    operator: textOf(operator),
    reason: textOf(reason),
    surface,
  }
  return [{ kind: 'cancel-order', request }]
}

/** Resuming live trading first releases the positions that the venue does not hold. */
const resumption = (rest: readonly Stamped[]): readonly Command[] => {
  const resumed = rest.find(({ type }) => type === 'execution.reduce_only.v1')
  const { active, set_by: operator, reason } = resumed?.payload ?? {}
  if (resumed === undefined || active !== false || typeof operator !== 'string') return []
  const surface = resumed.source === 'cli' ? 'cli' : 'api'
  return [{ kind: 'resume-live', operator, reason: textOf(reason), surface }]
}

const exitIn = (rest: readonly Stamped[]): Stamped | undefined =>
  rest.find(({ type, payload }) => type === 'execution.order_submitted.v1' && payload['exit_reason'] !== null)

const operatorExit = (rest: readonly Stamped[]): readonly Command[] => {
  const exit = exitIn(rest)
  if (exit === undefined) return []
  const { ordered_by: operator, note, position_id: id } = exit.payload
  if (typeof operator !== 'string') return []
  const by = (surface: 'api' | 'cli') => ({
    operator,
    surface,
    ...(typeof note === 'string' ? { note } : {}),
  })
  return (['api', 'cli'] as const).flatMap((surface): readonly Command[] => [
    { kind: 'close-position', positionId: positionId(textOf(id)), by: by(surface) },
    { kind: 'close-all', by: by(surface) },
  ])
}

const tick = (rest: readonly Stamped[]): readonly Command[] => {
  const exit = exitIn(rest)
  const trigger = exit?.payload['trigger'] as { kind: string; price: number; ts: string } | null | undefined
  if (exit !== undefined && trigger?.kind === 'tick')
    return ticks(exit.payload['symbol'], trigger.price, trigger.ts)
  const [first] = rest
  if (first?.type !== 'alert.stop_triggered' && first?.type !== 'alert.target_hit') return []
  // While the kill switch blocks exits, a price beyond a stop or a target leads to an alert alone.
  const { symbol, mark_price: price } = first.payload
  return typeof price === 'number' ? ticks(symbol, price, first.ts) : []
}

const ticks = (name: Json | undefined, number: number, at: string): readonly Command[] => {
  const symbol = canonicalSymbol(textOf(name))
  const [price, ts] = [priceFrom(number), timestampOf(at)]
  return [null, price].map((confirms): Command => ({
    kind: 'observe-tick',
    tick: { symbol, price, ts, confirms },
  }))
}

/** Returns an empty text for an event without this member, which then matches nothing. */
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Events from clients, operators, other machines or venues, which the log holds as received. */
const isFact = (state: State, { type, payload }: Stamped): boolean => {
  if (FACTS.some((prefix) => type.startsWith(prefix))) return true
  if (!type.startsWith('execution.')) return false
  const order = payload['order_id']
  if (typeof order !== 'string') return typeof payload['venue_payment_id'] === 'string'
  const { open, ended } = state.trading.orders
  const known = open.get(orderId(order)) ?? ended.get(orderId(order))
  // The engine itself fills paper orders, so their fills are decisions.
  return known !== undefined && known.venue !== PAPER
}

const FACTS = [
  'contributor.',
  'producer.re',
  'trace.',
  'learning.feedback.',
  'karma.wallet_migration.',
  'execution.intent_approved.',
  'execution.position_adopted.',
  'execution.reduce_only.',
  'execution.venue_',
  'system.access_key',
  'system.alerts_acknowledged.',
  'system.audit.',
  'system.checkpoint.',
  'system.clock_jumped.',
  'system.config_changed.',
  'system.key_',
  'system.leader.',
  'system.live_confirmed.',
  'system.restore.',
  'system.started.',
] as const
