import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { unitsFrom, usdFrom, type Price, type Quantity, type Usd } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'

/** How fine a venue takes orders, and the smallest. Null where it does not say. */
export interface Steps {
  readonly quantityStep: Quantity | null
  readonly quantityMin: Quantity | null
  readonly notionalMin: Usd | null
  readonly priceStep: Price | null
}

/** Whether real orders may be sent, as far as the log tells. */
export interface Venue {
  readonly confirmed: { readonly venue: string; readonly by: string; readonly at: string } | null
  readonly checked: Checked | null
  /** Of the symbols that it trades, by canonical symbol. */
  readonly steps: PersistentMap<string, Steps>
  readonly reduceOnly: { readonly reason: string; readonly since: string } | null
  /** Canonical symbols of which the venue holds less than we do. */
  readonly missing: readonly string[]
  /** When the first position was opened on paper. */
  readonly firstPaperAt: string | null
}

export interface Checked {
  readonly venue: string
  readonly ok: boolean
  readonly at: string
  readonly checks: PayloadOf<'execution.venue_checked.v1'>['checks']
}

export const INITIAL_VENUE: Venue = {
  confirmed: null,
  checked: null,
  steps: PersistentMap(),
  reduceOnly: null,
  missing: [],
  firstPaperAt: null,
}

export const evolveVenue = (venue: Venue, event: KnownEvent): Venue => {
  switch (event.type) {
    case 'system.live_confirmed.v1': {
      const { venue: name, confirmed_by: by } = event.payload
      return { ...venue, confirmed: { venue: name, by, at: event.ts } }
    }
    case 'execution.venue_checked.v1': {
      const { venue: name, ok, checks, symbols } = event.payload
      return {
        ...venue,
        checked: { venue: name, ok, at: event.ts, checks },
        steps: PersistentMap(symbols.map((told) => [canonicalSymbol(told.symbol), stepsFrom(told)])),
      }
    }
    case 'execution.venue_differs.v1': {
      const symbol = canonicalSymbol(event.payload.symbol)
      return venue.missing.includes(symbol) ? venue : { ...venue, missing: [...venue.missing, symbol] }
    }
    case 'execution.reduce_only.v1': {
      const { active, reason } = event.payload
      return active
        ? { ...venue, reduceOnly: { reason, since: event.ts } }
        : { ...venue, reduceOnly: null, missing: [] }
    }
    case 'execution.position_opened.v1':
      return venue.firstPaperAt !== null || event.payload.platform !== 'paper'
        ? venue
        : { ...venue, firstPaperAt: event.ts }
    default:
      return venue
  }
}

const stepsFrom = (told: PayloadOf<'execution.venue_checked.v1'>['symbols'][number]): Steps => ({
  quantityStep: orNull(told.quantity_step, unitsFrom),
  quantityMin: orNull(told.quantity_min, unitsFrom),
  notionalMin: orNull(told.notional_min_usd, usdFrom),
  priceStep: orNull(told.price_step, unitsFrom),
})

const orNull = (value: number | null, from: (value: number) => bigint): bigint | null =>
  value === null ? null : from(value)
