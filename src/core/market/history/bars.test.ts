import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHistoryCheck } from './check.ts'
import { mergeBars } from './merge.ts'
import { resample } from './resample.ts'
import type { HistoryBar } from './series.ts'
import { shiftBetween } from './shift.ts'

const MINUTE_MS = 60_000
const START_MS = Date.UTC(2024, 0, 1)
const NOW_MS = Date.UTC(2026, 0, 1)

const barAt = (minute: number, price = 100, volume = 1): HistoryBar => ({
  openMs: START_MS + minute * MINUTE_MS,
  open: price,
  high: price + 1,
  low: price - 1,
  close: price,
  volume,
})

const bars = fc.array(
  fc.record({ minute: fc.nat(300), price: fc.integer({ min: 2, max: 5 }), volume: fc.nat(9) }),
  { maxLength: 60 },
)
const barsOf = (drawn: readonly { minute: number; price: number; volume: number }[]) =>
  drawn.map(({ minute, price, volume }) => barAt(minute, price, volume))

describe('merging', () => {
  it('again changes nothing, whatever the bars are and however they are split', () => {
    fc.assert(
      fc.property(bars, bars, fc.boolean(), (stored, given, replaces) => {
        const base = mergeBars([], barsOf(stored), { replaces: false }).bars
        const once = mergeBars(base, barsOf(given), { replaces })
        const twice = mergeBars(once.bars, barsOf(given), { replaces })
        expect(twice.bars).toEqual(once.bars)
        expect(twice.added + twice.replaced).toBe(0)
        const times = once.bars.map(({ openMs }) => openMs)
        expect(times).toEqual([...new Set(times)].sort((one, other) => one - other))
        expect(once.bars.length).toBe(base.length + once.added)
        expect(once.added + once.repeated + once.conflicts.length).toBe(given.length)
      }),
    )
  })

  it('keeps the stored bar and reports the other', () => {
    const merged = mergeBars([barAt(0, 5)], [barAt(0, 6), barAt(1, 7)], { replaces: false })
    expect(merged.bars).toEqual([barAt(0, 5), barAt(1, 7)])
    expect(merged.conflicts).toEqual([{ kept: barAt(0, 5), dropped: barAt(0, 6) }])
  })

  it('replaces the stored bar where that is asked for, by the first of several', () => {
    const merged = mergeBars([barAt(0, 5)], [barAt(0, 6), barAt(0, 7)], { replaces: true })
    expect(merged.bars).toEqual([barAt(0, 6)])
    expect(merged).toMatchObject({ replaced: 1, added: 0 })
    expect(merged.conflicts).toHaveLength(2)
  })
})

describe('longer bars', () => {
  const WHOLE = { fromSeconds: 60, isBeginning: false, isEnd: false }

  it('hold what the shorter ones hold: open, extremes, close and volume', () => {
    fc.assert(
      fc.property(bars, fc.constantFrom(300, 900, 3600), (drawn, toSeconds) => {
        const minutes = mergeBars([], barsOf(drawn), { replaces: false }).bars
        const longer = resample(minutes, { ...WHOLE, toSeconds })
        for (const bar of longer) {
          const inside = minutes.filter(
            ({ openMs }) => openMs >= bar.openMs && openMs < bar.openMs + toSeconds * 1000,
          )
          expect(bar.openMs % (toSeconds * 1000)).toBe(0)
          expect(bar.open).toBe(inside[0]?.open)
          expect(bar.close).toBe(inside.at(-1)?.close)
          expect(bar.high).toBe(Math.max(...inside.map(({ high }) => high)))
          expect(bar.low).toBe(Math.min(...inside.map(({ low }) => low)))
        }
        const volumeOf = (list: readonly HistoryBar[]) => list.reduce((sum, { volume }) => sum + volume, 0)
        expect(volumeOf(longer)).toBe(volumeOf(minutes))
      }),
    )
  })

  it('that the history cuts off are left out, but not those with a gap inside', () => {
    const minutes = [2, 3, 4, 5, 9, 10, 11].map((minute) => barAt(minute))
    const openMinutes = (isBeginning: boolean, isEnd: boolean) =>
      resample(minutes, { fromSeconds: 60, toSeconds: 300, isBeginning, isEnd }).map(
        ({ openMs }) => (openMs - START_MS) / MINUTE_MS,
      )
    expect(openMinutes(true, true)).toEqual([5])
    expect(openMinutes(false, false)).toEqual([0, 5, 10])
    expect(resample([], { ...WHOLE, toSeconds: 300 })).toEqual([])
    expect(resample([barAt(1)], { fromSeconds: 60, toSeconds: 300, isBeginning: true, isEnd: true })).toEqual(
      [],
    )
  })
})

const check = (given: readonly HistoryBar[], seconds = 60) => {
  const looking = createHistoryCheck(seconds, NOW_MS)
  // In two parts, as months come.
  looking.add(given.slice(0, Math.floor(given.length / 2)))
  looking.add(given.slice(Math.floor(given.length / 2)))
  return looking.result()
}
const kindsOf = (given: readonly HistoryBar[], seconds = 60) =>
  Object.fromEntries(Object.entries(check(given, seconds).counts).filter(([, count]) => count > 0))

describe('the check', () => {
  const sound = Array.from({ length: 100 }, (_, minute) => barAt(minute, 100 + (minute % 3) / 10))

  it('finds nothing in sound bars', () => {
    expect(kindsOf(sound)).toEqual({})
  })

  it('counts what is missing, also over the end of a part', () => {
    const found = check([...sound.slice(0, 40), ...sound.slice(45)])
    expect(found.counts.gap).toBe(1)
    expect(found.missing).toBe(5)
    expect(found.findings).toMatchObject([{ kind: 'gap', at: '2024-01-01T00:40:00.000Z' }])
  })

  it('finds bars twice, out of order, off the grid, impossible, in the future', () => {
    expect(kindsOf([barAt(0), barAt(1), barAt(1), barAt(2)])).toEqual({ duplicate: 1 })
    expect(kindsOf([barAt(0), barAt(2), barAt(1), barAt(3)])).toMatchObject({ out_of_order: 1 })
    expect(kindsOf([...sound, { ...barAt(100), openMs: START_MS + 100 * MINUTE_MS + 1 }])).toMatchObject({
      off_grid: 1,
    })
    expect(kindsOf([...sound, { ...barAt(100), low: 200 }])).toMatchObject({ invalid: 1 })
    expect(kindsOf([{ ...barAt(0), openMs: NOW_MS }])).toEqual({ future: 1 })
  })

  it('finds a spike, and no spike in a market that moves much', () => {
    expect(kindsOf([...sound.slice(0, 50), { ...barAt(50), high: 130 }, ...sound.slice(51)])).toEqual({
      outlier: 1,
    })
    const wild = Array.from({ length: 100 }, (_, minute) => barAt(minute, minute % 2 === 0 ? 100 : 108))
    expect(kindsOf(wild)).toEqual({})
  })

  it('lists some of many findings and counts all', () => {
    const found = check(sound.filter((_, index) => index % 2 === 0))
    expect(found.counts.gap).toBe(49)
    expect(found.findings).toHaveLength(20)
  })

  it('sees days that begin at another midnight', () => {
    const days = Array.from({ length: 30 }, (_, day) => ({
      ...barAt(0),
      openMs: START_MS + day * 86_400_000 + 16 * 3_600_000,
    }))
    expect(check(days, 86_400).findings.at(-1)).toMatchObject({
      kind: 'time_zone',
      detail: expect.stringMatching(/16 hours after the UTC grid/),
    })
  })

  it('sees the hours that summer time leaves out, if there are two of them', () => {
    const isMissing = (hour: string) => ['2024-03-31T02', '2025-03-30T02'].includes(hour)
    const hours = Array.from({ length: 24 * 500 }, (_, hour) => ({ ...barAt(hour * 60) })).filter(
      ({ openMs }) => !isMissing(new Date(openMs).toISOString().slice(0, 13)),
    )
    expect(kindsOf(hours, 3600)).toEqual({ gap: 2, time_zone: 1 })
    expect(kindsOf(hours.slice(0, 24 * 300), 3600)).toEqual({ gap: 1 })
  })
})

describe('two series of one coin', () => {
  const walk = Array.from({ length: 400 }, (_, hour) => barAt(hour * 60, 100 + 10 * Math.sin(hour ** 1.7)))
  const moved = (hours: number) => walk.map((bar) => ({ ...bar, openMs: bar.openMs + hours * 3_600_000 }))

  it('show by how many hours one of them is off', () => {
    expect(shiftBetween(moved(8), walk)).toMatchObject({ hours: -8 })
    expect(shiftBetween(walk, moved(5))).toMatchObject({ hours: 5 })
  })

  it('show nothing where they agree, are unrelated, or hardly overlap', () => {
    const unrelated = walk.map((bar, index) => ({ ...bar, close: 100 + 10 * Math.cos(index ** 2.3) }))
    expect(shiftBetween(walk, walk)).toBeNull()
    expect(shiftBetween(walk, unrelated)).toBeNull()
    expect(shiftBetween(walk.slice(0, 40), moved(8))).toBeNull()
  })
})
