import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUILTIN_PRODUCERS, signalTypeOf } from '../../core/signal-types/all.ts'
import { canonicalJson } from '../../core/log/canonical-json.ts'
import { BUILT_IN_PRODUCERS } from './all.ts'
import { barsOf, marketView, symbolView } from './market-view.fixture.ts'

const price = fc.double({ min: 1e-8, max: 1e9, noNaN: true })
const finite = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const maybe = (value: fc.Arbitrary<number>) => fc.option(value, { nil: null })

/** Whatever a feed may tell, however short and wild the history. */
const views = fc
  .array(
    fc.record({
      symbol: fc.constantFrom('BTC', 'ETH', 'btc/usdt'),
      analysisBars: fc.oneof(
        fc.array(price, { maxLength: 60 }).map(barsOf),
        fc.array(price, { minLength: 200, maxLength: 260 }).map(barsOf),
        fc
          .tuple(price, fc.nat(260))
          .map(([close, count]) => barsOf(Array.from({ length: count }, () => close))),
      ),
      variance: maybe(fc.oneof(fc.constant(0), finite(0, 1e6), fc.constant(Number.MIN_VALUE))),
      return1h: maybe(finite(-1, 1e6)),
      fundingAnnualized: maybe(finite(-1e4, 1e4)),
      basisAnnualized: maybe(finite(-1e4, 1e4)),
      openInterestChangePct: maybe(finite(-100, 1e12)),
      bidDepthUsd: maybe(finite(0, 1e15)),
      askDepthUsd: maybe(finite(0, 1e15)),
      fearGreed: maybe(finite(0, 100)),
      fearGreedChange7d: maybe(finite(-100, 100)),
    }),
    { maxLength: 3 },
  )
  .map((said) => marketView(...said.map(symbolView)))

describe.each(BUILT_IN_PRODUCERS.map((producer) => [producer.name, producer] as const))(
  '%s',
  (name, producer) => {
    it('is listed with its schedule', () => {
      expect(BUILTIN_PRODUCERS[name]?.schedule).toBeTypeOf('string')
    })

    it('says only what may be stored, the same for the same market, or why it says nothing', () => {
      fc.assert(
        fc.property(views, (view) => {
          const run = producer.run(view)
          if (run.status === 'degraded') {
            expect(run.reason).not.toBe('')
            return
          }
          for (const { type, payload } of run.rows) {
            expect(signalTypeOf(type)?.payload.safeParse(payload).error).toBeUndefined()
            // Throws for NaN and infinity.
            expect(canonicalJson(payload)).not.toBe('')
          }
          expect(producer.run(view)).toEqual(run)
        }),
        { numRuns: 60 },
      )
    })

    it('says nothing of no market', () => {
      expect(producer.run(marketView())).toMatchObject({ status: 'degraded' })
    })
  },
)

describe('the list', () => {
  it('is alphabetical', () => {
    const names = BUILT_IN_PRODUCERS.map(({ name }) => name)
    expect(names).toEqual(names.toSorted())
  })
})
