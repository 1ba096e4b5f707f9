import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { accept, type Decision } from '../vocabulary/decision.ts'
import { derivedId } from '../vocabulary/derived-id.ts'
import { canonicalSymbol } from '../vocabulary/symbol.ts'

export interface Intent {
  readonly id: string
  readonly intent: PayloadOf<'execution.trade_intent.v1'>
  readonly status: 'awaiting_approval' | 'ready' | 'rejected' | 'expired'
  readonly reasons: readonly string[]
}

/** Newest last; ended ones are kept for a while, so that a cycle can tell what became of its intents. */
export type Intents = PersistentMap<string, Intent>

export const INITIAL_INTENTS: Intents = PersistentMap()

const ENDED_KEPT = 1000

export interface ExecutionRules {
  readonly now: string
  readonly dcgSymbols: readonly string[]
  /** Null when nobody knows a price: then nothing is ever guessed. */
  readonly markOf: (symbol: string) => number | null
  readonly sha256Hex: Sha256Hex
}

/** Every failing check is listed. An intent that has ended stays ended. */
export const executeIntent = (intents: Intents, intentId: string, rules: ExecutionRules): Decision => {
  const known = intents.get(intentId)
  if (known?.status !== 'ready') return accept()
  const { symbol, direction } = known.intent
  const isListed = rules.dcgSymbols.some((listed) => canonicalSymbol(listed) === canonicalSymbol(symbol))
  const reasons = [
    ...(isListed ? ['dcg_symbol'] : []),
    ...(rules.markOf(symbol) === null ? ['no_price'] : []),
  ]
  if (reasons.length === 0) return accept()
  const failed = {
    type: 'execution.order_failed.v1',
    source: 'oms',
    payload: {
      order_id: derivedId('order', intentId, rules.sha256Hex),
      intent_id: intentId,
      symbol,
      reasons,
      details: {},
    },
  } as const
  if (!isListed) return accept(failed)
  return accept(
    {
      type: 'system.dcg_violation.v1',
      source: 'oms',
      payload: {
        symbol,
        action: direction === 'long' ? 'buy' : 'sell',
        reason: 'Symbol in DCG blacklist',
        blocked_at: rules.now,
        intent_id: intentId,
      },
    },
    failed,
  )
}

/** Nothing is sent after its time: what still waits then has ended. */
export const expireIntents = (
  intents: Intents,
  { now, sha256Hex }: Pick<ExecutionRules, 'now' | 'sha256Hex'>,
): Decision =>
  accept(
    ...[...intents.values()]
      .filter(({ status, intent }) => isLive(status) && intent.valid_until < now)
      .map(({ id, intent: { symbol } }) => ({
        type: 'execution.order_failed.v1' as const,
        source: 'oms',
        payload: {
          order_id: derivedId('order', id, sha256Hex),
          intent_id: id,
          symbol,
          reasons: [EXPIRED],
          details: {},
        },
      })),
  )

const EXPIRED = 'expired'

/** Whether something may still come of it. */
export const isLive = (status: Intent['status']): boolean =>
  status === 'ready' || status === 'awaiting_approval'

export const evolveIntents = (intents: Intents, event: KnownEvent): Intents => {
  switch (event.type) {
    case 'execution.trade_intent.v1':
      return trimmed(intents).set(event.id, {
        id: event.id,
        intent: event.payload,
        status: event.payload.status,
        reasons: [],
      })
    case 'execution.order_failed.v1': {
      const { intent_id: id, reasons } = event.payload
      return id === null
        ? intents
        : intents.update(
            id,
            (known) =>
              known && { ...known, status: reasons.includes(EXPIRED) ? 'expired' : 'rejected', reasons },
          )
    }
    default:
      return intents
  }
}

const trimmed = (intents: Intents): Intents => {
  if (intents.size < 2 * ENDED_KEPT) return intents
  const ended = [...intents.values()].filter(({ status }) => !isLive(status)).map(({ id }) => id)
  return intents.deleteAll(ended.toSorted().slice(0, -ENDED_KEPT))
}
