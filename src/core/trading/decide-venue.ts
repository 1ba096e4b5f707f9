import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { canonicalJson } from '../log/canonical-json.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { unitsNumber, usdNumber, type Usd } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { Steps, Venue } from './venue.ts'

/** What a look at the venue found. */
export interface VenueCheck {
  readonly venue: string
  readonly checks: readonly PayloadOf<'execution.venue_checked.v1'>['checks'][number][]
  /** Null for a symbol that it does not trade. */
  readonly symbols: readonly { readonly symbol: string; readonly steps: Steps | null }[]
}

/** Told when it is not what the log already says. */
export const recordVenueCheck = (state: Venue, check: VenueCheck): Decision => {
  const payload: PayloadOf<'execution.venue_checked.v1'> = {
    venue: check.venue,
    ok: check.checks.length > 0 && check.checks.every(({ ok }) => ok),
    checks: [...check.checks],
    symbols: check.symbols.flatMap(({ symbol, steps }) => (steps === null ? [] : toldSteps(symbol, steps))),
  }
  return isTold(state, payload)
    ? accept()
    : accept({ type: 'execution.venue_checked.v1', source: 'oms', payload })
}

export interface LiveConfirmation {
  readonly venue: string
  readonly operator: string
  readonly configHash: string
  readonly equity: Usd
}

/** Real money begins with an empty table: what is open on paper stays on paper. */
export const confirmLive = (
  { venue, operator, configHash, equity }: LiveConfirmation,
  facts: { readonly openPositions: number; readonly openOrders: number; readonly account: string },
): Decision => {
  if (facts.account !== venue && facts.openPositions + facts.openOrders > 0) {
    return refuse('live.positions_open', 'close every position first: they belong to another account', {
      open_positions: facts.openPositions,
      open_orders: facts.openOrders,
    })
  }
  return accept({
    type: 'system.live_confirmed.v1',
    source: 'cli',
    payload: {
      venue,
      confirmed_by: operator,
      config_hash: configHash,
      equity_usd: usdNumber(equity),
    },
  })
}

export const reduceOnlyEvent = (active: boolean, reason: string, operator: string | null): NewEvent => ({
  type: 'execution.reduce_only.v1',
  source: 'oms',
  payload: { active, reason, set_by: operator },
})

const toldSteps = (
  symbol: string,
  { quantityStep, quantityMin, notionalMin, priceStep }: Steps,
): PayloadOf<'execution.venue_checked.v1'>['symbols'][number] => ({
  symbol,
  quantity_step: quantityStep === null ? null : unitsNumber(quantityStep),
  quantity_min: quantityMin === null ? null : unitsNumber(quantityMin),
  notional_min_usd: notionalMin === null ? null : usdNumber(notionalMin),
  price_step: priceStep === null ? null : unitsNumber(priceStep),
})

/** What checks saw (a balance, an offset) may differ each time; what they mean may not. */
const isTold = ({ checked, steps }: Venue, payload: PayloadOf<'execution.venue_checked.v1'>): boolean =>
  checked !== null &&
  checked.venue === payload.venue &&
  checked.ok === payload.ok &&
  checked.checks.length === payload.checks.length &&
  checked.checks.every(({ name, ok }, index) => {
    const again = payload.checks[index]
    return again?.name === name && again.ok === ok
  }) &&
  steps.size === payload.symbols.length &&
  payload.symbols.every((told) => {
    const known = steps.get(canonicalSymbol(told.symbol))
    return known !== undefined && canonicalJson(toldSteps(told.symbol, known)) === canonicalJson(told)
  })
