import { useQuery } from '@tanstack/react-query'
import type { Score } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { formatPercent } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { Unknown } from '../../ui/numbers.tsx'
import { RESOLVED_MIN } from './factors.ts'
import { bucketsOf, type Bucket } from './outcomes.ts'

const CALLS_MAX = 500

/** What was claimed beside what happened. */
export const Calibration = ({ score }: { readonly score: Score }) => {
  const { data } = useQuery(
    queries.events({ about: score.contributor_id, type: 'attribution.resolved', limit: CALLS_MAX }),
  )
  const buckets = bucketsOf(data?.items ?? [])
  const isEnough = score.signals_resolved >= RESOLVED_MIN
  return (
    <div className="grid gap-3">
      <Facts
        facts={[
          [
            'Brier score',
            isEnough ? (
              `${score.brier_score.toFixed(3)}; 0 is perfect, 0.25 is chance`
            ) : (
              <Unknown key="brier" why="too few calls with a known outcome" />
            ),
          ],
          [
            'Usual conviction',
            score.signals_submitted === 0 ? (
              <Unknown key="conviction" why="no signal yet" />
            ) : (
              `${score.avg_conviction.toFixed(1)} of 10`
            ),
          ],
          ['Known outcomes', `${score.signals_resolved}, of them ${score.signals_profitable} right`],
        ]}
      />
      {buckets.length === 0 ? (
        <p className="text-xs text-muted">
          No call has a known outcome yet. One is known when its horizon is over or its trade is closed; then
          this compares how sure it was with how often it was right.
        </p>
      ) : (
        <ul className="grid gap-1.5" aria-label="Claimed and right, by how sure the calls were">
          {buckets.map((bucket) => (
            <BucketRow key={bucket.label} bucket={bucket} />
          ))}
        </ul>
      )}
    </div>
  )
}

const BucketRow = ({ bucket: { label, calls, claimed, right } }: { readonly bucket: Bucket }) => (
  <li className="grid grid-cols-[5rem_1fr_9rem] items-center gap-2 text-[13px]">
    <span className="text-muted">{label}</span>
    <span aria-hidden className="relative h-2.5 rounded-full bg-raised">
      <span
        className="absolute inset-y-0 left-0 rounded-full bg-accent"
        style={{ width: `${right * 100}%` }}
      />
      <span
        className="absolute -inset-y-1 w-0.5 bg-text"
        style={{ left: `${claimed * 100}%` }}
        title={`claimed ${formatPercent(claimed, { digits: 0 })}`}
      />
    </span>
    <span className="text-right text-xs text-muted">
      {formatPercent(right, { digits: 0 })} right, {calls === 1 ? '1 call' : `${calls} calls`}
    </span>
  </li>
)
