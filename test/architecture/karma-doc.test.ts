import { Map as PersistentMap } from 'immutable'
import { positionId, timestampOf } from '../../src/core/shared/brand.ts'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { INITIAL_CALLS, PARTS_OF_HORIZON } from '../../src/core/reputation/calls.ts'
import { scoreAt } from '../../src/core/reputation/contributor-score.ts'
import { NO_RECORD } from '../../src/core/signals/track-record.ts'
import { reputationOf } from '../../src/core/reputation/author-reputation.ts'
import { contributionsOf } from '../../src/core/reputation/contribution.ts'
import { edgeAfter, NO_EDGE, type Edge } from '../../src/core/reputation/edge.ts'
import { contributor, curatorCall, cycleOf, firstOf } from '../../src/core/brain/scenario.fixture.ts'
import { evolveOutcomes, INITIAL_OUTCOMES, tallyWithin } from '../../src/core/reputation/outcomes.ts'
import { evolveOverlaps, NO_OVERLAPS, repeatsOf } from '../../src/core/reputation/overlaps.ts'
import type { KnownEvent } from '../../src/core/events/catalogue.ts'
import { authorKey } from '../../src/core/shared/author-key.ts'
import {
  bandOf,
  moveRate,
  NO_RATES,
  tradeRate,
  withMove,
  withTrade,
} from '../../src/core/reputation/base-rates.ts'
import { type Horizon, HORIZON_MS, timestampAt } from '../../src/core/shared/time.ts'

const page = readFileSync(new URL('../../docs/karma.md', import.meta.url), 'utf8')
const { karma: rules, settlement } = DEFAULT_CONFIGURATION

/** The rows of the table whose head begins with this cell. */
const rowsOf = (head: string): readonly (readonly string[])[] => {
  const table = page.split(`\n| ${head} |`)[1]?.split('\n\n')[0] ?? ''
  const rows = table.split('\n').slice(2)
  expect(rows.length).toBeGreaterThan(0)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** The last cell is the result; the others are what it follows from. */
const expectRows = (head: string, resultOf: (given: readonly string[]) => number): void => {
  for (const row of rowsOf(head)) {
    expect(resultOf(row.slice(0, -1)), row.join(' ')).toBeCloseTo(Number(row.at(-1)), 8)
  }
}

const numbersIn = (text: string): readonly number[] => (text.match(/\d+/g) ?? []).map(Number)
const repeated = <Value>(count: number, start: Value, next: (value: Value) => Value): Value =>
  Array.from({ length: count }).reduce<Value>((value) => next(value), start)

const ratesAfter = (seen: string): typeof NO_RATES => {
  const [up = 0, flat = 0, down = 0] = numbersIn(seen)
  const ups = repeated(up, NO_RATES, (rates) => withMove(rates, '24h', 'up', 0))
  const flats = repeated(flat, ups, (rates) => withMove(rates, '24h', 'flat', 0))
  return repeated(down, flats, (rates) => withMove(rates, '24h', 'down', 0))
}

const AS_OF = timestampOf('2026-02-20T00:00:00.000Z')
const [FIRST, SECOND] = [authorKey(null, 'first'), authorKey(null, 'second')]

const event = (type: string, payload: object): KnownEvent =>
  ({ type, ts: AS_OF, payload }) as unknown as KnownEvent

/** A record in which `right` of every five calls are fully right, and the others fully wrong. */
const edgeOf = (days: number, callsADay: number, right: number): Edge =>
  Array.from({ length: days * callsADay }).reduce<Edge>(
    (edge, _, index) =>
      edgeAfter(
        edge,
        { surplus: index % 5 < right ? 0.5 : -0.5, spacing: 1, days: 1 },
        1 + Math.floor(index / callsADay),
        rules.influence.half_life,
      ),
    NO_EDGE,
  )

/** A call about the next day. */
const said = (author: string, hour: number, isUp: boolean): KnownEvent =>
  event('attribution.recorded.v1', {
    contributor_id: null,
    producer_id: author.slice('producer:'.length),
    symbol: 'BTC',
    direction: isUp ? 'bullish' : 'bearish',
    call_id: `${author} ${hour}`,
    horizon: '24h',
    ref_price: 100,
    received_at: timestampAt(Date.parse(AS_OF) + hour * 3_600_000),
    due_at: timestampAt(Date.parse(AS_OF) + (hour + 24) * 3_600_000),
  })

const overlapsOf = (calls: readonly KnownEvent[]) =>
  calls.reduce((overlaps, one) => evolveOverlaps(overlaps, one, () => 0), NO_OVERLAPS)

/** 200 calls of the first author, up and down in turns. The second author repeats `ofTen` of every ten. */
const overlapsAfter = (hours: number, ofTen = 10) =>
  overlapsOf(
    Array.from({ length: 200 }, (_, index) => [
      said(FIRST, 48 * index, index % 2 === 0),
      said(SECOND, 48 * index + hours, (index % 2 === 0) === index % 10 < ofTen),
    ]).flat(),
  )

const countOf = (lean: number) => ({ calls: 100, weight: 100, squares: 100, lean })

describe('docs/karma.md', () => {
  it('says how wide bands are', () => {
    expectRows('Horizon', ([horizon]) =>
      bandOf(0.004 * Math.sqrt(HORIZON_MS[horizon as Horizon] / 900_000), settlement),
    )
  })

  it('says for how long a call is joined', () => {
    expectRows('Of a call of', ([horizon]) => HORIZON_MS[horizon as Horizon] / PARTS_OF_HORIZON / 3_600_000)
  })

  it('says what base rates are', () => {
    expectRows('Seen so far', ([seen = '']) => moveRate(ratesAfter(seen), '24h', 'up', settlement.prior))
    expectRows('Trades so far, stop 5 %, target 10 %', ([seen = '']) => {
      const [wins = 0, count = 0] = numbersIn(seen)
      const trades = Array.from({ length: count }).reduce<typeof NO_RATES>(
        (rates, _, index) => withTrade(rates, positionId(`trade-${index}`), index < wins),
        NO_RATES,
      )
      return tradeRate(trades, { prior: settlement.prior, stopPct: 0.05, targetPct: 0.1 })
    })
  })

  it('says what karma is', () => {
    expectRows('Calls', (given) => {
      const [calls = 0, rate = 0, hits = 0] = given.map(Number)
      const sums = { gainMax: calls * (1 - rate), lossMax: calls * rate, evidence: calls }
      return reputationOf({ surplus: hits - calls * rate, ...sums }, rules.producer_k)
    })
  })

  it('says what a score is', () => {
    expectRows('Submitted', (given) => {
      const [submitted = 0, accepted = 0, resolved = 0, own = 0, mean = 0, error = 0] = given.map(Number)
      const [newcomer = 0, brier = 0, streak = 0, days = 0] = given.slice(6).map(Number)
      const record = {
        ...NO_RECORD,
        submitted,
        accepted,
        resolved,
        brierSum: brier * resolved,
        streakDays: streak,
        lastActiveAt: timestampAt(Date.parse(AS_OF) - days * 86_400_000),
      }
      return scoreAt(record, { own, newcomer, edge: { mean, error, evidence: 0, sure: 0 } }, AS_OF, rules)
        .score
    })
  })

  it('says what grades are', () => {
    expectRows('Call', ([direction, moved, seen = '']) => {
      const measured = event('attribution.measured.v1', {
        contributor_id: null,
        producer_id: 'first',
        hit: true,
        base_rate: 0.4,
        direction,
        return_pct: 0.01 * Number(moved),
        band_pct: 0.01,
        horizon: '24h',
      })
      const outcomes = evolveOutcomes(INITIAL_OUTCOMES, measured, {
        ...INITIAL_CALLS,
        rates: ratesAfter(seen),
      })
      return tallyWithin(outcomes, FIRST, AS_OF, 90).surplus
    })
  })

  it('says what an author adds', () => {
    for (const row of rowsOf('Days')) {
      const [days = 0, callsADay = 0, right = 0, ...expected] = row.map(Number)
      const edges = [[FIRST, edgeOf(days, callsADay, right)]] as const
      const own = contributionsOf({ edges, overlaps: NO_OVERLAPS }, rules.influence).get(FIRST)
      const found = [own?.edge.mean, own?.edge.error, own?.own, own?.influence, own?.newcomer]
      expect(expected).toHaveLength(found.length)
      for (const [index, value] of expected.entries())
        expect(found[index], row.join(' ')).toBeCloseTo(value, 8)
    }
  })

  it('says what the newest outcomes leave of an edge', () => {
    for (const row of rowsOf('Of five before')) {
      const [before = 0, lately = 0, mean = 0, own = 0] = row.map(Number)
      const edge = Array.from({ length: 30 }).reduce<Edge>(
        (so, _, index) =>
          edgeAfter(
            so,
            { surplus: index % 5 < lately ? 0.5 : -0.5, spacing: 1, days: 1 },
            201 + index,
            rules.influence.half_life,
          ),
        edgeOf(200, 1, before),
      )
      const found = contributionsOf({ edges: [[FIRST, edge]], overlaps: NO_OVERLAPS }, rules.influence).get(
        FIRST,
      )
      expect(found?.edge.mean, row.join(' ')).toBeCloseTo(mean, 8)
      expect(found?.own, row.join(' ')).toBeCloseTo(own, 8)
    }
  })

  it('says what a withdrawn call counts', () => {
    expectRows('Hours until the first withdraws it', ([hours]) => {
      const calls = [said(FIRST, 0, true), said(SECOND, 0, true), said(FIRST, Number(hours), false)]
      return repeatsOf(overlapsOf(calls)).find(({ later }) => later === SECOND)?.share ?? Number.NaN
    })
  })

  it('says what a copy adds', () => {
    const edge = edgeOf(200, 1, 4)
    for (const row of rowsOf('Hours later')) {
      const [hours = 0, nearness = 0, overlap = 0, own = 0] = row.map(Number)
      const overlaps = overlapsAfter(hours)
      const edges = [
        [FIRST, edge],
        [SECOND, edge],
      ] as const
      const copy = contributionsOf({ edges, overlaps }, rules.influence).get(SECOND)
      expect(repeatsOf(overlaps)[0]?.share, row.join(' ')).toBeCloseTo(nearness, 8)
      expect(copy?.repeats[0]?.overlap ?? 0, row.join(' ')).toBeCloseTo(overlap, 8)
      expect(copy?.borrowed, row.join(' ')).toBeCloseTo(1, 8)
      expect(copy?.own, row.join(' ')).toBeCloseTo(own, 8)
    }
  })

  it('says what who follows has', () => {
    const edge = edgeOf(200, 1, 4)
    for (const row of rowsOf('Repeated of ten')) {
      const [ofTen = 0, steady = 0, part = 0, own = 0, influence = 0] = row.map(Number)
      const overlaps = overlapsAfter(20, ofTen)
      const edges = [
        [FIRST, edge],
        [SECOND, edge],
      ] as const
      const copy = contributionsOf({ edges, overlaps }, rules.influence).get(SECOND)
      expect(repeatsOf(overlaps)[0]?.steady, row.join(' ')).toBeCloseTo(steady, 8)
      expect(copy?.follows[0]?.part ?? 0, row.join(' ')).toBeCloseTo(part, 8)
      expect(copy?.borrowed, row.join(' ')).toBeCloseTo(part, 8)
      expect(copy?.own, row.join(' ')).toBeCloseTo(own, 8)
      expect(copy?.influence, row.join(' ')).toBeCloseTo(influence, 8)
    }
  })

  it('says what calls count that are over', () => {
    const says = (id: string, influence: number, isOver: boolean) =>
      curatorCall('bullish', 5, {
        id,
        isOver,
        // A minimal newcomer part, because no author has infinitely many outcomes.
        author: { ...contributor(id), worth: { influence, newcomer: 1e-12, groupId: null } },
      })
    expectRows('Influence of open calls', ([open = '', over = '']) => {
      const signals = [
        ...numbersIn(open).map((influence, index) => says(`open ${index}`, influence, false)),
        ...numbersIn(over).map((influence, index) => says(`over ${index}`, influence, true)),
      ]
      return firstOf(cycleOf({ signals })).inputs.reduce(
        (sum, { authorId, share }) => sum + (authorId.startsWith('over') ? share : 0),
        0,
      )
    })
  })

  it('says what leanings explain', () => {
    for (const row of rowsOf('Up of the first')) {
      const [first = 0, second = 0, share = 0, expected = 0, overlap = 0] = row.map(Number)
      const leans = [first, second].map((up) => 2 * up - 100) as [number, number]
      const overlaps = {
        ...NO_OVERLAPS,
        counts: PersistentMap([FIRST, SECOND].map((author, place) => [author, countOf(leans[place] ?? 0)])),
        repetitions: PersistentMap([
          [
            `${SECOND}\n${FIRST}`,
            { agreed: 100 * share, atOnce: 100 * share, squares: 100, asOfCall: 100, day: 1 },
          ],
        ]),
      }
      const [pair] = repeatsOf(overlaps)
      expect(Math.sqrt(pair?.variance ?? 0), row.join(' ')).toBeCloseTo(0.1, 9)
      expect(Math.min(0.5, pair?.byLean ?? 0), row.join(' ')).toBeCloseTo(expected, 9)
      const copy = contributionsOf({ edges: [], overlaps }, rules.influence).get(SECOND)
      expect(copy?.repeats[0]?.overlap ?? 0, row.join(' ')).toBeCloseTo(overlap, 8)
    }
  })
})
