import type { NewEvent } from './events/catalogue.ts'
import type { Moment } from './moment.ts'
import { openPositionsOf } from './positions/book.ts'
import type { Position } from './positions/positions.ts'
import type { State } from './state.ts'
import { accept, type Decision } from './vocabulary/decision.ts'
import { periodShareOf, signOf, usdNumber } from './vocabulary/money.ts'
import { canonicalSymbol } from './vocabulary/symbol.ts'

/** Three times a day. */
const PERIODS_PER_YEAR = 1095n
const PERIOD_MS = 28_800_000

/** Longs pay a positive rate, shorts get it. Where nobody knows the rate nothing is charged. */
export const applyFunding = (state: State, at: string, { configuration }: Moment): Decision => {
  if (!configuration.execution.apply_funding) return accept()
  return accept(
    ...openPositionsOf(state)
      .filter(({ terms }) => terms.openedAt < at)
      .flatMap((position) => {
        const rate = rateOf(state, position, Date.parse(at))
        return rate === null ? [] : chargeOf(position, rate, at)
      }),
  )
}

const rateOf = ({ market }: State, { terms }: Position, atMs: number): number | null => {
  const last = market.symbols.get(canonicalSymbol(terms.asset))?.last
  if (last === undefined || atMs - Date.parse(last.close_ts) > PERIOD_MS) return null
  return last.funding_annualized
}

const chargeOf = ({ id, terms, mark }: Position, rate: number, at: string): readonly NewEvent[] => {
  const amount = signOf(terms.direction) * periodShareOf(mark.exposure, rate, PERIODS_PER_YEAR)
  if (amount === 0n) return []
  return [
    {
      type: 'execution.funding_applied.v1',
      source: 'oms',
      // Several services on one log come to the same moment: it is charged once.
      dedupeKey: `funding:${at}:${id}`,
      payload: {
        position_id: id,
        rate_annualized: rate,
        notional_usd: usdNumber(mark.exposure),
        amount_usd: usdNumber(amount),
      },
    },
  ]
}
