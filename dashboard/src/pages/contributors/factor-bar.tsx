import type { Score } from '../../api/people.ts'
import { cx } from '../../ui/cx.ts'
import { FACTORS, pointsOf } from './factors.ts'

/** A score of 100 in its five parts. The numbers beside it say it. */
export const FactorBar = ({ score }: { readonly score: Score }) => (
  <span
    className="flex h-2 w-full min-w-20 gap-px overflow-hidden rounded-full bg-raised"
    title={FACTORS.map(({ name, label }) => `${label} ${pointsOf(score, name).toFixed(1)}`).join(', ')}
  >
    {FACTORS.map(({ name, fill }) => (
      <span
        key={name}
        className={cx('h-full', fill)}
        style={{ width: `${Math.max(0, pointsOf(score, name))}%` }}
      />
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
