import type { FactorName, Score } from '../../api/types.ts'
import { cx } from '../../ui/cx.ts'
import { formatFixed, formatPercent } from '../../ui/format.ts'

interface Factor {
  readonly name: FactorName
  readonly label: string
  /** Question that the factor answers. */
  readonly question: string
  /** Fill colour of its part of a bar. */
  readonly fill: string
}

/** Number of resolved calls from which hit rate and calibration count. */
export const RESOLVED_MIN = 5

export const FACTORS: readonly Factor[] = [
  {
    name: 'hit_rate',
    label: 'Hit rate',
    question: 'How much do its calls add beyond chance, and beyond what others said before?',
    fill: 'bg-accent',
  },
  {
    name: 'calibration',
    label: 'Calibration',
    question: 'Do calls come true as often as their probability says?',
    fill: 'bg-accent/75',
  },
  { name: 'volume', label: 'Volume', question: 'How many signals did the brain use?', fill: 'bg-accent/55' },
  {
    name: 'consistency',
    label: 'Consistency',
    question: 'How many days in a row?',
    fill: 'bg-accent/40',
  },
  {
    name: 'recency',
    label: 'Recency',
    question: 'How long ago was the last signal? Fades after 7 days.',
    fill: 'bg-accent/25',
  },
]

/** Points of a factor, out of 100 for the score. */
export const pointsOf = (score: Score, name: FactorName): number => score.factors[name].contribution * 100

export const pointsMaxOf = (score: Score, name: FactorName): number => score.factors[name].weight * 100

/** The figures from which a factor is computed, as text. */
const factorNote = (score: Score, name: FactorName): string => {
  const isEnough = score.signals_resolved >= RESOLVED_MIN
  const missing = `needs ${RESOLVED_MIN} resolved calls, has ${score.signals_resolved}`
  switch (name) {
    case 'hit_rate':
      return isEnough
        ? `adds ${formatFixed(score.inputs.own, 3)} beyond chance and others, 0.2 is the best; ${score.signals_profitable} of ${score.signals_resolved} calls hit, ${formatPercent(score.signals_profitable / score.signals_resolved, { digits: 0 })}`
        : missing
    case 'calibration':
      return isEnough
        ? `Brier score ${formatFixed(score.brier_score, 3)}; 0.25 is no better than chance`
        : missing
    case 'volume':
      return `${score.signals_accepted} of ${score.signals_submitted} signals used${evidenceNote(score)}`
    case 'consistency':
      return `${score.streak === 1 ? '1 day' : `${score.streak} days`} in a row${evidenceNote(score)}`
    case 'recency':
      return score.last_active === '' ? 'no signal yet' : 'full within 7 days, then fading over 30'
  }
}

const evidenceNote = ({ inputs }: Score): string =>
  `; counts ${formatPercent(inputs.evidence, { digits: 0 })}, by outcomes and what they added`

/** A score out of 100 in its five parts. */
export const FactorBar = ({ score }: { readonly score: Score }) => (
  <span
    className="flex h-2 w-full min-w-20 gap-px overflow-hidden rounded-full bg-raised"
    title={
      score.inputs.gated
        ? 'Fewer than one signal in ten was used: the score is 0'
        : FACTORS.map(({ name, label }) => `${label} ${formatFixed(pointsOf(score, name), 1)}`).join(', ')
    }
  >
    {FACTORS.filter(({ name }) => !score.inputs.gated && pointsOf(score, name) > 0).map(({ name, fill }) => (
      <span key={name} className={cx('h-full', fill)} style={{ width: `${pointsOf(score, name)}%` }} />
    ))}
  </span>
)

export const FactorLegend = () => (
  <ul className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted" aria-label="Factors of a score">
    {FACTORS.map(({ name, label, fill, question }) => (
      <li key={name} className="flex items-center gap-1" title={question}>
        <span aria-hidden className={cx('size-2.5 rounded-sm', fill)} />
        {label}
      </li>
    ))}
  </ul>
)

/** The points of a score by factor. */
export const FactorBreakdown = ({ score }: { readonly score: Score }) => (
  <div className="grid gap-3">
    {score.inputs.gated ? (
      <p className="rounded-md bg-warn-soft px-3 py-2 text-[13px] text-warn">
        Fewer than one signal in ten was used: the score is 0 until that changes.
      </p>
    ) : null}
    <ul className="grid gap-2.5">
      {FACTORS.map(({ name, label, question, fill }) => {
        const [points, max] = [pointsOf(score, name), pointsMaxOf(score, name)]
        return (
          <li key={name} title={question}>
            <div className="flex items-baseline justify-between gap-2 text-[13px]">
              <span className="font-medium">{label}</span>
              <span className="whitespace-nowrap">
                <strong className={cx('font-semibold', points < 0 && 'text-bad')}>
                  {formatFixed(points, 1)}
                </strong>
                <span className="text-muted"> of {formatFixed(max, 0)} points</span>
              </span>
            </div>
            <div aria-hidden className="mt-1 h-1.5 overflow-hidden rounded-full bg-raised">
              <div
                className={cx('h-full rounded-full', fill)}
                style={{ width: `${Math.min(100, Math.max(0, (points / max) * 100))}%` }}
              />
            </div>
            <p className="mt-0.5 text-xs text-muted">{factorNote(score, name)}</p>
          </li>
        )
      })}
    </ul>
  </div>
)
