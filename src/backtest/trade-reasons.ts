import type { KnownEvent, PayloadOf } from '../core/events/catalogue.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'

type Conviction = PayloadOf<'brain.conviction.v1'>
type Intent = PayloadOf<'execution.trade_intent.v1'>
type Order = PayloadOf<'execution.order_submitted.v1'>

/** Why a trade was opened. Uses the names of the report. */
export type TradeReason = ReturnType<typeof reasonOf>

/** Number of trades that are explained, from the first on. Explaining millions of them would use too much memory. */
export const EXPLAINED_MAX = 1000
const INPUTS_MAX = 8
const NO_LIMITS: Order['limits'] = {}

/** Remembers the latest reasons for opening a trade in each symbol. */
export class TradeReasons {
  readonly #convictions = new Map<string, { readonly id: string; readonly payload: Conviction }>()
  readonly #intents = new Map<string, { readonly by: string; readonly payload: Intent }>()
  readonly #orders = new Map<string, Order>()
  #explained = 0

  take(event: KnownEvent): void {
    if (this.#explained >= EXPLAINED_MAX) return
    switch (event.type) {
      case 'brain.conviction.v1':
        // Other decisions lead to no trade.
        if (event.payload.decision.action === event.payload.direction)
          this.#convictions.set(event.payload.symbol, { id: event.id, payload: event.payload })
        return
      case 'execution.trade_intent.v1':
        this.#intents.set(canonicalSymbol(event.payload.symbol), {
          by: event.source ?? '',
          payload: event.payload,
        })
        return
      case 'execution.order_submitted.v1':
        if (event.payload.intent_id !== null)
          this.#orders.set(canonicalSymbol(event.payload.symbol), event.payload)
        return
      default:
    }
  }

  /** Reason for a position that was just opened; null if it is no longer known. */
  of(opened: PayloadOf<'execution.position_opened.v1'>): TradeReason | null {
    const { asset, conviction_id: id } = opened
    const intent = this.#intents.get(asset)
    if (this.#explained >= EXPLAINED_MAX || intent?.payload.conviction_id !== id) return null
    this.#explained += 1
    const order = this.#orders.get(asset)
    const conviction = this.#convictions.get(intent.payload.symbol)
    return reasonOf(
      intent,
      order?.order_id === opened.order_id ? order : undefined,
      conviction?.id === id ? conviction.payload : null,
    )
  }
}

const reasonOf = (
  { by, payload: intent }: { readonly by: string; readonly payload: Intent },
  order: Order | undefined,
  conviction: Conviction | null,
) => {
  const inputs = (conviction?.inputs ?? []).toSorted(
    (one, other) => Math.abs(other.contribution) - Math.abs(one.contribution),
  )
  return {
    /** `brain`, or the name of the strategy. */
    by,
    rationale: intent.rationale,
    conviction: intent.conviction_score,
    /** Requested share of equity. */
    size_pct: intent.size_pct,
    stop_loss_pct: intent.stop_loss_pct,
    take_profit_pct: intent.take_profit_pct,
    /** Limits that bounded the size, each in USD. */
    limits: order?.limits ?? NO_LIMITS,
    sizing: order?.sizing ?? null,
    /** Arguments for and against the trade. Null for a strategy, which only has its rationale. */
    case: conviction === null ? null : caseOf(conviction),
    /** Signals, the strongest one first. */
    inputs: inputs.slice(0, INPUTS_MAX).map(({ signal_id: _id, ...input }) => input),
    inputs_left_out: Math.max(0, inputs.length - INPUTS_MAX),
  }
}

const caseOf = ({ pcs_score, cts_score, confidence, coverage }: Conviction) => ({
  pcs_score,
  cts_score,
  confidence,
  coverage,
})
