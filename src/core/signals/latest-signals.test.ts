import { timestampOf } from '../shared/brand.ts'
import { expect, it } from 'vitest'
import { asKnown, type KnownEvent } from '../events/catalogue.ts'
import {
  evolveLatestSignals,
  NO_LATEST_SIGNALS,
  SIGNALS_OF_AUTHOR_MAX,
  type LatestSignals,
} from './latest-signals.ts'

const event = (type: string, ts: string, payload = {}): KnownEvent => {
  const known = asKnown({
    seq: 1,
    id: `${type}-${ts}`,
    type,
    ts: timestampOf(ts),
    recordedAt: timestampOf(ts),
    source: 'p',
    traceId: null,
    dedupeKey: null,
    payload,
  })
  if (known === null) throw new Error(`${type} is not known`)
  return known
}

const said = (symbol: string, ts: string) => event('signal.ta.v1', ts, { symbol })
const cycle = (ts: string) => event('brain.cycle.v1', ts)
const after = (...events: readonly KnownEvent[]): LatestSignals =>
  events.reduce(evolveLatestSignals, NO_LATEST_SIGNALS)
const symbols = ({ signals }: LatestSignals) => [...signals.values()].map(({ symbol }) => symbol)

it('takes down what is older than four days, with the next cycle', () => {
  const events = [
    said('OLD', '2026-02-01T00:00:00.000Z'),
    said('NEW', '2026-02-03T00:00:00.000Z'),
    cycle('2026-02-05T00:00:00.000Z'),
  ]
  expect(symbols(after(...events)).toSorted()).toEqual(['NEW', 'OLD'])
  const later = after(...events, cycle('2026-02-05T00:00:00.001Z'))
  expect(symbols(later)).toEqual(['NEW'])
  expect(symbols(evolveLatestSignals(later, cycle('2026-02-07T00:00:00.000Z')))).toEqual(['NEW'])
  expect(symbols(evolveLatestSignals(later, cycle('2026-02-07T00:00:00.001Z')))).toEqual([])
})

it('takes down an old word that came late', () => {
  const late = after(
    said('NEW', '2026-02-03T00:00:00.000Z'),
    cycle('2026-02-03T00:00:00.000Z'),
    said('OLD', '2026-02-01T00:00:00.000Z'),
    cycle('2026-02-05T00:00:00.001Z'),
  )
  expect(symbols(late)).toEqual(['NEW'])
})

it('stays the same as long as nothing is old', () => {
  const latest = after(said('BTC', '2026-02-03T00:00:00.000Z'), cycle('2026-02-03T00:00:00.000Z'))
  expect(evolveLatestSignals(latest, cycle('2026-02-04T00:00:00.000Z'))).toBe(latest)
})

const saidBy = (source: string, index: number): KnownEvent => ({
  ...said(`S${index}`, '2026-02-03T00:00:00.000Z'),
  source,
})

it('keeps so many of one author, who may invent symbols, and still those of others', () => {
  const flood = Array.from({ length: SIGNALS_OF_AUTHOR_MAX + 5 }, (_, index) => saidBy('flood', index))
  const latest = after(...flood)
  expect(latest.signals.size).toBe(SIGNALS_OF_AUTHOR_MAX)
  expect(evolveLatestSignals(latest, saidBy('ann', 1)).signals.size).toBe(SIGNALS_OF_AUTHOR_MAX + 1)
  // A symbol that is known already is still updated.
  const again = { ...saidBy('flood', 1), id: 'newer' }
  expect([...evolveLatestSignals(latest, again).signals.values()].map(({ id }) => id)).toContain('newer')
  // New symbols are accepted again once the old signals have expired.
  const later = evolveLatestSignals(latest, cycle('2026-02-08T00:00:00.000Z'))
  expect(later.signals.size).toBe(0)
  expect(later.ofAuthor.size).toBe(0)
  expect(evolveLatestSignals(later, saidBy('flood', 9)).signals.size).toBe(1)
})
