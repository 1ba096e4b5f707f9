import type { Score } from '../../api/people.ts'
import { cx } from '../../ui/cx.ts'
import { factorNote, FACTORS, pointsMaxOf, pointsOf } from './factors.ts'

/** Where the points of a score come from, and what keeps the others away. */
export const FactorBreakdown = ({ score }: { readonly score: Score }) => (
  <div className="grid gap-3">
    {score.inputs?.gated === true ? (
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
                <strong className={cx('font-semibold', points < 0 && 'text-bad')}>{points.toFixed(1)}</strong>
                <span className="text-muted"> of {max.toFixed(0)} points</span>
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
