import type { Weights } from '../../api/trading.ts'
import { cx } from '../../ui/cx.ts'
import { formatNumber, formatPercent } from '../../ui/format.ts'
import { Time } from '../../ui/time.tsx'
import { DOMAINS } from './words.ts'

export interface WeightPoint {
  /** Null for now. */
  readonly ts: string | null
  readonly weights: Weights
}

interface WeightLinesProps {
  /** Oldest first, at least one. */
  readonly points: readonly WeightPoint[]
  /** What the change is measured against; null = the first point. */
  readonly configured: Weights | null
}

/** One line per domain: small ones side by side are easier to read than six that cross. */
export const WeightLines = ({ points, configured }: WeightLinesProps) => {
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
  const points = by * 100
  const isNothing = Math.abs(points) < 0.05
  return (
    <span className={cx('text-right text-xs whitespace-nowrap', isNothing ? 'text-muted' : 'text-accent')}>
      {isNothing ? 'unchanged' : `${points > 0 ? '+' : ''}${formatNumber(points, 1)} pts`}
    </span>
  )
}

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

/** Weights hold until they are changed: steps, not slopes. */
const pathOf = (values: readonly number[], top: number): string => {
  const heightOf = (value: number): number => HEIGHT - 1 - (value / top) * (HEIGHT - 3)
  const step = WIDTH / Math.max(1, values.length - 1)
  const [first = 0, ...rest] = values
  const moves = rest.map(
    (value, index) => `H${((index + 1) * step).toFixed(2)}V${heightOf(value).toFixed(2)}`,
  )
  return `M0 ${heightOf(first).toFixed(2)}${moves.length === 0 ? `H${WIDTH}` : moves.join('')}`
}

const areaOf = (values: readonly number[], top: number): string => `${pathOf(values, top)}V${HEIGHT}H0Z`
