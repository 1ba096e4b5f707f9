import { binsOf, skillPoints, type ClaimRow } from './claims.ts'
import type { LifeReport } from './life.ts'
import type { ReliabilityBin } from './observer.ts'
import { intervalOf, meanOf } from './statistics.ts'

/** The proof as a page. */
export const markdownOf = (reports: readonly LifeReport[], claims: readonly ClaimRow[]): string => {
  const seeds = new Set(reports.map(({ plan }) => plan.seed)).size
  const sections = [
    '# Does it learn?',
    `${reports.length} lives over ${seeds} seeds, with the real core on recorded time. Plot: learning.svg.`,
    table(
      ['Claim', 'What', 'Measured', 'Target', 'Holds'],
      claims.map(({ claim, what, value, target, holds }) => [
        String(claim),
        what,
        value,
        target,
        holds ? 'yes' : 'NO',
      ]),
    ),
    '## Authors',
    table(['Author', 'True skill', 'Karma after 200 calls', 'Lowest', 'Highest'], authorRows(reports)),
    '## Reliability of convictions',
    reliabilityTable(binsOf(reports, 'engineBins')),
    '## Reliability of what authors claim',
    reliabilityTable(binsOf(reports, 'authorBins')),
  ]
  return `${sections.join('\n\n')}\n`
}

/** Formats the claims for a terminal. */
export const claimsText = (claims: readonly ClaimRow[]): string =>
  claims
    .map(
      ({ claim, what, value, target, holds }) =>
        `${holds ? 'holds' : 'FAILS'}  ${claim}  ${what}: ${value} (${target})`,
    )
    .join('\n')

const authorRows = (reports: readonly LifeReport[]): readonly (readonly string[])[] =>
  skillPoints(reports)
    .toSorted((one, other) => other.skill - one.skill)
    .map(({ name, skill, karmas }) => [
      name,
      skill.toFixed(2),
      meanOf(karmas).toFixed(1),
      Math.min(...karmas).toFixed(1),
      Math.max(...karmas).toFixed(1),
    ])

const reliabilityTable = (bins: readonly ReliabilityBin[]): string =>
  table(
    ['Cases', 'Said', 'Came true', '95 % of the latter'],
    bins
      .filter(({ count }) => count > 0)
      .map(({ count, probabilities, hits }) => {
        const { low, high } = intervalOf(Array.from({ length: count }, (_, index) => (index < hits ? 1 : 0)))
        return [
          String(count),
          (probabilities / count).toFixed(3),
          (hits / count).toFixed(3),
          `${low.toFixed(3)} to ${high.toFixed(3)}`,
        ]
      }),
  )

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
