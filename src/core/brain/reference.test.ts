import { BEFORE_ALL } from '../shared/brand.ts'
import { priceFrom } from '../shared/money.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from '../log/canonical-json.ts'
import { DOMAINS } from '../shared/domains.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { ConvictionInput } from './conviction.ts'
import { evidenceOf, weightedTypeOf } from '../signal-types/all.ts'
import { convictionPayload, cyclePayload } from './payloads.ts'
import { freshMsOf, qualityAt } from './fresh-signals.ts'
import { type BrainSignal, cycleOf, NOW_MS, RULES } from './scenario.fixture.ts'
import { sharesOf } from './domain-score.ts'
import { type Author, authorKeyOf } from './authors.ts'
import type { MarketFacts } from '../signal-types/declare.ts'
import { signalsOf, views } from './views.fixture.ts'

const MARKET: MarketFacts = { volume24hUsd: 2e9, return24hPct: 3, mark: priceFrom(3000) }
const SYMBOLS = ['ETH', 'SOL', '42']

const spelt = fc.constantFrom('ETH', 'eth/usdt', 'SOL', 'SOL-PERP', '42', ' 42 ', 'GLOBAL', null)

const said = fc
  .tuple(views, fc.array(spelt, { minLength: 12, maxLength: 12 }), fc.boolean())
  .map(([all, spellings, areReversed]) => {
    const signals = signalsOf(all).map((signal, index) => ({
      ...signal,
      symbol: canonicalSymbol(spellings[index] ?? ''),
    }))
    return areReversed ? signals.toReversed() : signals
  })

const cycleAbout = (signals: readonly BrainSignal[]) =>
  cycleOf({
    signals,
    symbols: SYMBOLS,
    market: SYMBOLS.map((symbol) => ({ symbol: canonicalSymbol(symbol), ...MARKET })),
  })

it('a cycle uses what a plain reading of the rules uses, to the bit', () => {
  fc.assert(
    fc.property(said, (signals) => {
      for (const { symbol, inputs, signalIds, domains } of cycleAbout(signals).convictions) {
        const expected = plainInputs(signals, symbol)
        const weightOf = new Map(domains.map(({ domain, weight }) => [domain, weight]))
        expect(inputs).toStrictEqual(
          expected.map((input) => ({
            ...input,
            contribution: (weightOf.get(input.domain) ?? Number.NaN) * input.share * input.evidence,
          })),
        )
        expect(signalIds).toStrictEqual(expected.map(({ signalId }) => signalId))
      }
    }),
  )
})

it('what a cycle writes stands in canonical order, but for symbols that look like numbers', () => {
  fc.assert(
    fc.property(said, (signals) => {
      const result = cycleAbout(signals)
      for (const conviction of result.convictions) {
        const payload = convictionPayload(conviction, { cycleId: 'c', sha256Hex: () => '' })
        expect(JSON.stringify(payload)).toBe(canonicalJson(payload))
      }
      const named = { ...result, convictions: result.convictions.filter(({ symbol }) => symbol !== '42') }
      const context = {
        startedAt: BEFORE_ALL,
        durationMs: 1,
        weightsVersion: 1,
        configHash: '',
        engineVersion: '',
      }
      const payload = cyclePayload(named, { cycleId: 'c', trigger: 'api', ...context })
      expect(JSON.stringify(payload)).toBe(canonicalJson(payload))
    }),
    { numRuns: 30 },
  )
})

type PlainInput = Omit<ConvictionInput, 'contribution'>

/** A literal implementation of the specification, without optimization. */
const plainInputs = (signals: readonly BrainSignal[], symbol: string): readonly PlainInput[] => {
  const counted = signals
    .filter((signal) => signal.symbol === symbol)
    .filter((signal, index, all) => isNewest(signal, index, all))
    .map((signal) => ({
      signal,
      domain: weightedTypeOf(signal.type)?.domain,
      quality: qualityOf(signal),
      evidence: evidenceOf(signal, MARKET, RULES.brain.parts),
    }))
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => (placeOf(one.signal) < placeOf(other.signal) ? -1 : 1))
  return DOMAINS.flatMap((domain): readonly PlainInput[] => {
    const seen = counted.flatMap(({ evidence, ...one }) =>
      one.domain === domain && evidence !== null ? [{ ...one, evidence }] : [],
    )
    const authors = [...new Set(seen.map(({ signal }) => authorKeyOf(signal.author)))]
    const claims = authors.map((key) => {
      const own = seen.filter(({ signal }) => authorKeyOf(signal.author) === key)
      const author = own[0]?.signal.author as Author
      return { own, author, capGroup: capGroupOf(author) }
    })
    if (claims.length === 0) return []
    const newcomers = claims.map(({ author }) => author.worth.newcomer)
    // All newcomers together have the vote of the newest of them.
    const part = Math.max(...newcomers) / sumOf(newcomers)
    // Authors whose call is over together have what the strongest of them adds to the others.
    const influences = (areOver: boolean) =>
      claims.filter(({ own }) => own.every(({ signal }) => signal.isOver) === areOver).map(influenceOf)
    const left = Math.max(0, Math.max(0, ...influences(true)) - sumOf(influences(false)))
    const weights = claims.map(({ own, author, capGroup }) => {
      const { influence, newcomer } = author.worth
      const isOver = own.every(({ signal }) => signal.isOver)
      const weighs = isOver && influence > 0 ? (left / sumOf(influences(true))) * influence : influence
      return {
        weight: Math.max(...own.map(({ quality }) => quality)) * (weighs + part * newcomer),
        capGroup,
      }
    })
    const shares = sharesOf(weights, RULES.brain.share_cap)
    return claims.flatMap(({ own }, index) => {
      const qualities = own.reduce((sum, { quality }) => sum + quality, 0)
      return own.map(({ signal, quality, evidence }) => ({
        signalId: signal.id,
        authorId: signal.author.id,
        domain,
        share: ((shares[index] ?? 0) * quality) / qualities,
        quality,
        evidence,
      }))
    })
  })
}

const influenceOf = ({ author }: { readonly author: Author }): number => author.worth.influence

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

const qualityOf = ({ type, author, effectiveTimeMs }: BrainSignal): number => {
  const domain = weightedTypeOf(type)?.domain
  if (domain === undefined) return 0
  return qualityAt(NOW_MS - effectiveTimeMs, freshMsOf(domain, author, RULES.brain.quality_seconds))
}

/** Whether no later signal replaces this one. For signals with the same time, the later one in the list counts. */
const isNewest = (signal: BrainSignal, index: number, all: readonly BrainSignal[]): boolean =>
  !all.some(
    (other, at) =>
      placeOf(other) === placeOf(signal) &&
      (other.effectiveTimeMs > signal.effectiveTimeMs ||
        (other.effectiveTimeMs === signal.effectiveTimeMs && at > index)),
  )

const placeOf = ({ author, type }: BrainSignal): string => `${authorKeyOf(author)}\u0000${type}`

const capGroupOf = (author: Author): string | null => {
  if (author.kind === 'builtin') return null
  const { groupId } = author.worth
  return groupId === null ? authorKeyOf(author) : `group:${groupId}`
}
