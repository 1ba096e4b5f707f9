import type { ObservedBar } from '../../market/bar.ts'
import type { Timestamp, CanonicalSymbol } from '../../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, NewEvent, PayloadOf } from '../../events/catalogue.ts'
import { canonicalJson } from '../../log/canonical-json.ts'
import { type Decision, accept, refuse } from '../../shared/decision.ts'
import {
  NO_USD,
  priceFrom,
  priceNumberOrNull,
  quantityFrom,
  quantityNumber,
  signed,
  usdFrom,
  usdNumber,
  type Price,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { isSandbox } from '../../shared/sandbox.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { DAY_MS, dayOf } from '../../shared/time.ts'
import type { FeedBlocker, PriceBlocker, Quoted } from './live-prices.ts'
import { omsEvent } from '../orders/oms-event.ts'

/** Steps and minimum sizes of orders at a venue. Null where the venue does not report them. */
export interface Steps {
  readonly quantityStep: Quantity | null
  readonly quantityMin: Quantity | null
  readonly notionalMin: Usd | null
  readonly priceStep: Price | null
}

/** Whether real orders may be sent, according to the log. */
export interface Venue {
  readonly confirmed: { readonly venue: string; readonly by: string; readonly at: Timestamp } | null
  readonly checked: Checked | null
  /** Steps of the symbols that the venue trades. */
  readonly steps: PersistentMap<CanonicalSymbol, Steps>
  /** Whether stops can rest at the checked venue. */
  readonly restingStops: boolean
  readonly reduceOnly: { readonly reason: string; readonly since: Timestamp } | null
  /** Symbols of which the venue holds less than the log, with the quantity at the venue, signed. */
  readonly missing: readonly { readonly symbol: CanonicalSymbol; readonly held: Quantity }[]
  /** Last time at which a position was missing; null if none ever was. */
  readonly missedAt: Timestamp | null
  /** Difference between the venue and the books, as last recorded. It is too small to count as capital. */
  readonly unexplained: Usd
  /** Latest alert about positions and orders at venues to which no orders are sent. */
  readonly unroutedAlert: { readonly at: Timestamp; readonly repeat: number } | null
  /** Prices that the venue last reported. */
  readonly quoted: Quoted | null
  /** Time of the first paper position on prices of a real market. */
  readonly firstPaperAt: Timestamp | null
  /** Symbols whose latest bar comes from a simulated market or a file. */
  readonly invented: PersistentMap<CanonicalSymbol, string>
  /**
   * Number of days with such bars since the first paper position, and the latest of them. They do not count towards the
   * paper period.
   */
  readonly inventedDays: number
  readonly inventedDay: string | null
}

export interface Checked {
  readonly venue: string
  readonly ok: boolean
  readonly at: Timestamp
  readonly checks: PayloadOf<'execution.venue_checked.v1'>['checks']
}

export const INITIAL_VENUE: Venue = {
  confirmed: null,
  checked: null,
  steps: PersistentMap(),
  restingStops: false,
  reduceOnly: null,
  missing: [],
  missedAt: null,
  unexplained: NO_USD,
  unroutedAlert: null,
  quoted: null,
  firstPaperAt: null,
  invented: PersistentMap(),
  inventedDays: 0,
  inventedDay: null,
}

/** Feeds whose prices are not those of a market for real orders. */
const INVENTED_FEEDS: ReadonlySet<string> = new Set(['simulated', 'file'])

export const evolveVenue = (venue: Venue, event: KnownEvent): Venue => {
  switch (event.type) {
    case 'system.live_confirmed.v1': {
      const { venue: name, confirmed_by: by } = event.payload
      const isSame = venue.confirmed?.venue === name
      const confirmed = { venue: name, by, at: event.ts }
      return isSame ? { ...venue, confirmed } : { ...venue, confirmed, missedAt: null, unexplained: NO_USD }
    }
    case 'execution.venue_checked.v1': {
      const { venue: name, ok, checks, symbols, resting_stops: restingStops = false } = event.payload
      return {
        ...venue,
        checked: { venue: name, ok, at: event.ts, checks },
        restingStops,
        steps: PersistentMap(symbols.map((rules) => [canonicalSymbol(rules.symbol), stepsFrom(rules)])),
      }
    }
    case 'execution.venue_differs.v1': {
      const { symbol, our_quantity: ours, venue_quantity: theirs } = event.payload
      const others = venue.missing.filter((one) => one.symbol !== symbol)
      const missing = ours === theirs ? [] : [{ symbol, held: signedQuantityFrom(theirs) }]
      return { ...venue, missing: [...others, ...missing], missedAt: event.ts }
    }
    case 'execution.reduce_only.v1': {
      const { active, reason } = event.payload
      return active
        ? { ...venue, reduceOnly: { reason, since: event.ts } }
        : {
            ...venue,
            reduceOnly: null,
            missing: [],
            missedAt: venue.missing.length > 0 ? event.ts : venue.missedAt,
          }
    }
    case 'execution.balance_differs.v1':
      return { ...venue, unexplained: usdFrom(event.payload.unexplained_usd) }
    case 'execution.capital_moved.v1':
    case 'execution.loss_unexplained.v1':
      // The books now include the difference.
      return { ...venue, unexplained: NO_USD }
    case 'alert.execution': {
      const { cause, repeat } = event.payload
      const isUnrouted = cause === 'venue_not_configured' || cause === 'venue_not_opened'
      return isUnrouted ? { ...venue, unroutedAlert: { at: event.ts, repeat } } : venue
    }
    case 'execution.venue_quoted.v1': {
      const { venue: name, quotes } = event.payload
      const prices = PersistentMap(quotes.map(({ symbol, price }) => [symbol, priceFrom(price)]))
      return { ...venue, quoted: { venue: name, at: event.ts, prices } }
    }
    case 'execution.position_opened.v1': {
      const { platform, asset } = event.payload
      if (venue.firstPaperAt !== null || platform !== 'paper' || venue.invented.has(asset)) return venue
      return { ...venue, firstPaperAt: event.ts, inventedDays: 0, inventedDay: null }
    }
    default:
      return venue
  }
}

/** The venue after a bar, of which only its feed counts. */
export const venueAfterBar = (
  venue: Venue,
  { symbol: key, feed, bar: { backfill } }: ObservedBar,
  recordedAt: Timestamp,
): Venue => {
  if (!INVENTED_FEEDS.has(feed))
    return venue.invented.has(key) ? { ...venue, invented: venue.invented.delete(key) } : venue
  const invented = venue.invented.get(key) === feed ? venue.invented : venue.invented.set(key, feed)
  const day = dayOf(recordedAt)
  if (backfill || venue.firstPaperAt === null || venue.inventedDay === day)
    return invented === venue.invented ? venue : { ...venue, invented }
  return { ...venue, invented, inventedDays: venue.inventedDays + 1, inventedDay: day }
}

const stepsFrom = (rules: PayloadOf<'execution.venue_checked.v1'>['symbols'][number]): Steps => ({
  quantityStep: orNull(rules.quantity_step, quantityFrom),
  quantityMin: orNull(rules.quantity_min, quantityFrom),
  notionalMin: orNull(rules.notional_min_usd, usdFrom),
  priceStep: orNull(rules.price_step, priceFrom),
})

const orNull = <Of>(value: number | null, from: (value: number) => Of): Of | null =>
  value === null ? null : from(value)

const signedQuantityFrom = (value: number): Quantity =>
  signed(value < 0 ? 'short' : 'long', quantityFrom(Math.abs(value)))

/** Result of checking a venue. */
export interface VenueCheck {
  readonly venue: string
  readonly checks: readonly PayloadOf<'execution.venue_checked.v1'>['checks'][number][]
  /** Whether stops can rest there. */
  readonly restingStops?: boolean
  /** Null for a symbol that the venue does not trade. */
  readonly symbols: readonly { readonly symbol: string; readonly steps: Steps | null }[]
}

/** Records a check only if it differs from the one in the log. */
export const recordVenueCheck = (state: Venue, check: VenueCheck): Decision => {
  const payload: PayloadOf<'execution.venue_checked.v1'> = {
    venue: check.venue,
    ok: check.checks.length > 0 && check.checks.every(({ ok }) => ok),
    checks: [...check.checks],
    resting_stops: check.restingStops ?? false,
    symbols: check.symbols.flatMap(({ symbol, steps }) => (steps === null ? [] : symbolRules(symbol, steps))),
  }
  return isRecorded(state, payload) ? accept() : accept(omsEvent('execution.venue_checked.v1', payload))
}

export interface LiveConfirmation {
  readonly venue: string
  readonly operator: string
  readonly configHash: string
  readonly equity: Usd
}

/**
 * Confirms live trading. All positions and orders of another account must be closed first: paper positions stay on
 * paper.
 */
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

export const reduceOnlyEvent = (active: boolean, reason: string, operator: string | null): NewEvent =>
  omsEvent('execution.reduce_only.v1', { active, reason, set_by: operator })

const symbolRules = (
  symbol: string,
  { quantityStep, quantityMin, notionalMin, priceStep }: Steps,
): PayloadOf<'execution.venue_checked.v1'>['symbols'][number] => ({
  symbol,
  quantity_step: quantityStep === null ? null : quantityNumber(quantityStep),
  quantity_min: quantityMin === null ? null : quantityNumber(quantityMin),
  notional_min_usd: notionalMin === null ? null : usdNumber(notionalMin),
  price_step: priceNumberOrNull(priceStep),
})

/** Compares only the results of checks. Measured values, such as a balance or a clock offset, may differ each time. */
const isRecorded = (
  { checked, steps, restingStops }: Venue,
  payload: PayloadOf<'execution.venue_checked.v1'>,
): boolean =>
  restingStops === payload.resting_stops &&
  checked !== null &&
  checked.venue === payload.venue &&
  checked.ok === payload.ok &&
  checked.checks.length === payload.checks.length &&
  checked.checks.every(({ name, ok }, index) => {
    const again = payload.checks[index]
    return again?.name === name && again.ok === ok
  }) &&
  steps.size === payload.symbols.length &&
  payload.symbols.every((rules) => {
    const known = steps.get(canonicalSymbol(rules.symbol))
    return known !== undefined && canonicalJson(symbolRules(rules.symbol, known)) === canonicalJson(rules)
  })

/** Reasons that keep real entries from being sent. */
export type Blocker =
  | 'no_venue'
  | 'not_confirmed'
  | 'not_checked'
  | 'check_failed'
  | 'reduce_only'
  | 'open_elsewhere'
  | 'order_unknown'
  | 'paper_period'
  | FeedBlocker
  | PriceBlocker

export interface ReadinessFacts {
  readonly now: Timestamp
  /** Venue from the configuration; empty for none. */
  readonly venue: string
  readonly paperDaysMin: number
  /** Number of orders in status UNKNOWN. */
  readonly unknownOrders: number
}

/** All blockers that apply. Empty if entries are sent. */
export const blockersOf = (state: Venue, facts: ReadinessFacts): readonly Blocker[] => {
  const { confirmed, checked, reduceOnly } = state
  if (facts.venue === '') return ['no_venue']
  const isChecked = checked !== null && checked.venue === facts.venue
  const holds: Readonly<
    Record<Exclude<Blocker, 'no_venue' | 'open_elsewhere' | FeedBlocker | PriceBlocker>, boolean>
  > = {
    not_confirmed: confirmed?.venue !== facts.venue,
    not_checked: !isChecked,
    check_failed: isChecked && !checked.ok,
    reduce_only: reduceOnly !== null,
    order_unknown: facts.unknownOrders > 0,
    // Sandbox venues need no paper period, since they have no real money either.
    paper_period: !isSandbox(facts.venue) && !isPaperPeriodOver(state, facts),
  }
  return (Object.keys(holds) as readonly (keyof typeof holds)[]).filter((blocker) => holds[blocker])
}

/** The paper period starts with the first paper position. Days with bars of a simulated market or a file extend it. */
const isPaperPeriodOver = (
  { firstPaperAt, inventedDays }: Venue,
  { now, paperDaysMin }: Pick<ReadinessFacts, 'now' | 'paperDaysMin'>,
): boolean =>
  firstPaperAt !== null &&
  Date.parse(now) - Date.parse(firstPaperAt) >= (paperDaysMin + inventedDays) * DAY_MS
