import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { LearnedWeights, LearningRun, Weights } from '../../api/types.ts'
import { useAction } from '../../app/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { formatFixed, formatPercent, formatWords } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { DOMAINS } from './labels.ts'

/** Weight of each domain, now and before. */
export const WeightsPanel = ({ className = '' }: { readonly className?: string }) => {
  const learned = useQuery(queries.weights())
  return (
    <QueryPanel title="Weights of the domains" className={className} query={learned} actions={<LearnNow />}>
      {(weights) => (
        <div className="grid gap-4">
          <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
            <Badge tone={weights.origin === 'learned' ? 'accent' : 'neutral'}>
              {weights.origin === 'learned' ? `learned, version ${weights.version}` : 'as configured'}
            </Badge>
            <span>
              next run <Time at={weights.next_run_at} as="ago" />
            </span>
          </p>
          <WeightLines points={pointsOf(weights)} configured={weights.configured_weights} />
          <Runs runs={weights.history} />
        </div>
      )}
    </QueryPanel>
  )
}

const LearnNow = () => {
  const learn = useAction({
    send: (_input: void, headers) => api.POST('/learning/run', { headers }),
    confirms: () => ({
      title: 'Learn from closed trades now?',
      text: 'Normally this runs on schedule. Weights change by a small step, or not at all if there is too little data.',
      confirmLabel: 'Learn now',
    }),
    done: ({ applied, reason }) =>
      applied ? 'Weights adjusted' : `Weights unchanged: ${formatWords(reason)}`,
    refreshes: ['learning'],
  })
  return (
    <Button size="small" busy={learn.isPending} onClick={() => learn.run()}>
      Learn now
    </Button>
  )
}

const Runs = ({ runs }: { readonly runs: readonly LearningRun[] }) =>
  runs.length === 0 ? (
    <p className="text-xs text-muted">No learning run yet: the weights are the configured ones.</p>
  ) : (
    <ul className="grid max-h-48 overflow-y-auto" aria-label="Learning runs" tabIndex={0}>
      {runs.map(({ id, at, applied, reason, observations, trigger }) => (
        <li
          key={id}
          className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line py-1.5 text-[13px] last:border-0"
        >
          <span className="flex items-center gap-2">
            <Badge tone={applied ? 'accent' : 'neutral'}>{formatWords(reason)}</Badge>
            <span className="text-xs text-muted">
              {observations === 1 ? '1 closed trade' : `${observations} closed trades`}, by {trigger}
            </span>
          </span>
          <span className="text-xs text-muted">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ul>
  )

/** Points, oldest first. */
const pointsOf = ({ history, weights }: LearnedWeights): readonly WeightPoint[] => {
  const runs = history.toReversed()
  const [first] = runs
  return [
    ...(first === undefined ? [] : [{ ts: first.at, weights: first.previous_weights }]),
    ...runs.map(({ at, new_weights }) => ({ ts: at, weights: new_weights })),
    { ts: null, weights },
  ]
}

interface WeightPoint {
  /** Null for the current weights. */
  readonly ts: string | null
  readonly weights: Weights
}

interface WeightLinesProps {
  /** At least one point, oldest first. */
  readonly points: readonly WeightPoint[]
  /** Weights that the change is compared with; null for the first point. */
  readonly configured: Weights | null
}

/** One chart per domain: small ones side by side are easier to read than six crossing lines. */
const WeightLines = ({ points, configured }: WeightLinesProps) => {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const base = configured ?? first.weights
  const top = Math.max(0.01, ...points.flatMap(({ weights }) => Object.values(weights)))
  return (
    <div className="grid gap-1">
      <ul className="grid gap-1.5" aria-label="Weights">
        {DOMAINS.map((domain) => (
          <li key={domain} className="grid grid-cols-[5rem_1fr_4rem_4.5rem] items-center gap-2 text-[13px]">
            <span className="truncate">{domain}</span>
            <Line values={points.map(({ weights }) => weights[domain] ?? 0)} top={top} />
            <strong className="text-right font-semibold whitespace-nowrap">
              {formatPercent(last.weights[domain] ?? 0, { digits: 1 })}
            </strong>
            <Change by={(last.weights[domain] ?? 0) - (base[domain] ?? 0)} />
          </li>
        ))}
      </ul>
      <p className="grid grid-cols-[5rem_1fr_4rem_4.5rem] gap-2 text-[11px] text-muted">
        <span />
        <span className="flex justify-between">
          {first.ts === null ? <span>configured</span> : <Time at={first.ts} />}
          <span>now</span>
        </span>
      </p>
    </div>
  )
}

const Change = ({ by }: { readonly by: number }) => {
  const isNothing = Math.abs(by) < 0.0005
  return (
    <span className={cx('text-right text-xs whitespace-nowrap', isNothing ? 'text-muted' : 'text-accent')}>
      {isNothing ? 'unchanged' : `${formatFixed(percentagePoints(by), 1, { plus: true })} pts`}
    </span>
  )
}

/** Converts a share to percentage points. */
const percentagePoints = (share: number): number => share * 100

const WIDTH = 100
const HEIGHT = 20

const Line = ({ values, top }: { readonly values: readonly number[]; readonly top: number }) => (
  <svg
    aria-hidden
    viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    preserveAspectRatio="none"
    className="h-5 w-full rounded-sm bg-raised/60"
  >
    <path d={areaOf(values, top)} className="fill-accent-soft" />
    <path
      d={pathOf(values, top)}
      className="fill-none stroke-accent"
      strokeWidth="1.5"
      vectorEffect="non-scaling-stroke"
    />
  </svg>
)

/** Path in steps, because weights hold until they are changed. */
const pathOf = (values: readonly number[], top: number): string => {
  const heightOf = (value: number): number => HEIGHT - 1 - (value / top) * (HEIGHT - 3)
  const step = WIDTH / Math.max(1, values.length - 1)
  const [first = 0, ...rest] = values
  const moves = rest.map((value, index) => `H${rounded((index + 1) * step)}V${rounded(heightOf(value))}`)
  return `M0 ${rounded(heightOf(first))}${moves.length === 0 ? `H${WIDTH}` : moves.join('')}`
}

/** Rounds a length of the drawing. */
const rounded = (length: number): number => Math.round(length * 10) / 10

const areaOf = (values: readonly number[], top: number): string => `${pathOf(values, top)}V${HEIGHT}H0Z`
