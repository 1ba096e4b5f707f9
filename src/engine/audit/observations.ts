import type { Command } from '../../core/decide.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { FeedBar, StoredBar } from '../../core/market/bar.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import { priceNumber } from '../../core/shared/money.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { State } from '../../core/state.ts'

const isBar = ({ type }: Stamped): boolean => type === 'market.bar.v1' || type === 'market.bar_held.v1'

/** Whether the event is the refusal of a bar, which names symbol and reason. The bar itself is not recorded. */
const isRefusedBar = ({ type, source }: Stamped): boolean => type === 'system.audit.v1' && source === 'market'

/** The bars at the beginning of these events, and the refusals among them. */
const observedIn = (rest: readonly Stamped[]): readonly Stamped[] => {
  const end = rest.findIndex((event) => !isBar(event) && !isRefusedBar(event))
  return end === -1 ? rest : rest.slice(0, end)
}

/** A refused bar alone is an input. Together with bars it belongs to the decision about them. */
export const isObservation = (rest: readonly Stamped[]): boolean => observedIn(rest).some(isBar)

/**
 * The bars of one close time. A bar that was held back is recorded again with the bar that confirms it, and refused
 * with the bar that does not. Any other refused bar is replaced by one that is refused for the same reason.
 */
export const observation = (state: State, rest: readonly Stamped[]): Command => {
  const block = observedIn(rest)
  const bars: FeedBar[] = []
  let closeTs: string | null = null
  for (const [index, event] of block.entries()) {
    if (isRefusedBar(event)) {
      const known = knownSymbol(state, symbolRefused(event))
      if (!isDropped(event, block[index + 1], known)) bars.push(refusedBar(event, known))
      continue
    }
    const bar = barOf(event.payload)
    if (knownSymbol(state, bar.symbol)?.held?.open_ts === bar.open_ts) continue
    closeTs ??= bar.close_ts
    if (bar.close_ts !== closeTs) break
    bars.push(bar)
  }
  return { kind: 'observe-bars', observation: { feed: textOf(block.find(isBar)?.payload['feed']), bars } }
}

type KnownSymbol = ReturnType<State['market']['symbols']['get']>

const knownSymbol = (state: State, symbol: string): KnownSymbol =>
  state.market.symbols.get(canonicalSymbol(symbol))

const symbolRefused = ({ payload }: Stamped): string => textOf(payload['resource']).slice('market:'.length)

/** True for the refusal of a bar that was held back, because the next bar of the symbol did not confirm it. */
const isDropped = (refusal: Stamped, next: Stamped | undefined, known: KnownSymbol): boolean =>
  known?.held !== null &&
  known?.held !== undefined &&
  next !== undefined &&
  isBar(next) &&
  refusal.payload['reason'] === 'price_jump' &&
  next.payload['symbol'] === symbolRefused(refusal)

const timesFrom = (openMs: number, seconds: number) => ({
  open_ts: timestampAt(openMs),
  close_ts: timestampAt(openMs + seconds * 1000),
})

/** A larger move than any setting of `market.max_bar_move_pct` allows. */
const ASTRAY = 1000

const nextTimes = (last: StoredBar | undefined) =>
  last === undefined
    ? {}
    : { resolution_s: last.resolution_s, ...timesFrom(Date.parse(last.close_ts), last.resolution_s) }

const MINUTE = { resolution_s: 60, ...timesFrom(0, 60) }

const refusedBar = (refusal: Stamped, known: KnownSymbol): FeedBar => {
  const last = known?.held ?? known?.last
  const price = last === undefined ? 1 : priceNumber(last.close)
  const bar = {
    symbol: symbolRefused(refusal),
    open: price,
    high: price,
    low: price,
    close: price,
    volume: 0,
    quote_volume: 0,
    open_interest_usd: null,
    bid_depth_usd: null,
    ask_depth_usd: null,
    funding_annualized: null,
    basis_annualized: null,
    fear_greed: null,
    backfill: false,
  }
  const made = (times: Partial<FeedBar>): FeedBar => ({ ...bar, ...MINUTE, ...times })
  switch (refusal.payload['reason']) {
    case 'off_grid':
      return made(timesFrom(1000, 60))
    case 'in_future':
      return made(timesFrom(Date.parse('9999-01-01T00:00:00.000Z'), 60))
    case 'repeated':
    case 'out_of_order':
      return last === undefined || refusal.payload['reason'] === 'out_of_order'
        ? made({})
        : made({ resolution_s: last.resolution_s, open_ts: last.open_ts, close_ts: last.close_ts })
    case 'price_jump': {
      const high = price * ASTRAY
      return made({ ...nextTimes(last), open: high, high })
    }
    default:
      return made({ resolution_s: 0 })
  }
}

const barOf = (payload: JsonObject): FeedBar => {
  const { feed: _feed, ...bar } = payload
  return bar as unknown as FeedBar
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
