import type { CalibrationBin } from '../../api/types.ts'
import { formatPercent } from '../../ui/format.ts'
import { Empty } from '../../ui/states.tsx'

interface CalibrationProps {
  readonly bins: readonly CalibrationBin[]
}

const whole = (share: number): string => formatPercent(share, { digits: 0 })

const callsText = (calls: number): string => (calls === 1 ? '1 call' : `${calls} calls`)

/** Stated probabilities against outcomes. On the diagonal both are equal. */
export const CalibrationPlot = ({ bins }: CalibrationProps) =>
  bins.length === 0 ? (
    <Empty title="No resolved calls yet">
      A call resolves at its horizon, or when its trade closes. Then it shows here whether stated
      probabilities hold.
    </Empty>
  ) : (
    <div className="grid gap-3 sm:grid-cols-[minmax(0,14rem)_1fr] sm:items-center">
      <Plot bins={bins} />
      <CalibrationList bins={bins} />
    </div>
  )

const TICKS = [0, 0.5, 1] as const
const DOT_PX_MIN = 7
const DOT_PX_MAX = 20

/** Drawn without the chart library, which supports only time axes. */
const Plot = ({ bins }: CalibrationProps) => {
  const most = Math.max(...bins.map(({ calls }) => calls))
  return (
    <figure className="m-0 w-full max-w-56 justify-self-center text-[11px] text-muted">
      <figcaption className="pb-3">Hits</figcaption>
      <div className="flex">
        <div aria-hidden className="relative w-12 shrink-0">
          {TICKS.map((at) => (
            <span
              key={at}
              className="absolute right-1.5 -translate-y-1/2 whitespace-nowrap"
              style={{ top: `${(1 - at) * 100}%` }}
            >
              {whole(at)}
            </span>
          ))}
        </div>
        <div
          role="img"
          aria-label={`Hit rate by stated probability: ${bins.map(binText).join('; ')}`}
          className="relative aspect-square min-w-0 flex-1 border border-line"
        >
          <svg
            aria-hidden
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            className="absolute inset-0 size-full"
          >
            <path d="M0 50H100M50 0V100" className="stroke-line" vectorEffect="non-scaling-stroke" />
            <path
              d="M0 100L100 0"
              className="stroke-muted"
              strokeDasharray="4 3"
              vectorEffect="non-scaling-stroke"
            />
          </svg>
          {bins.map((bin) => {
            const size = DOT_PX_MIN + (DOT_PX_MAX - DOT_PX_MIN) * Math.sqrt(bin.calls / most)
            return (
              <span
                key={bin.from}
                title={binText(bin)}
                className="absolute -translate-x-1/2 translate-y-1/2 rounded-full border border-panel bg-accent"
                style={{
                  left: `${bin.stated * 100}%`,
                  bottom: `${bin.hit_rate * 100}%`,
                  width: size,
                  height: size,
                }}
              />
            )
          })}
        </div>
      </div>
      <div aria-hidden className="relative ml-12 h-5">
        {TICKS.map((at) => (
          <span
            key={at}
            className="absolute top-1 -translate-x-1/2 whitespace-nowrap"
            style={{ left: `${at * 100}%` }}
          >
            {whole(at)}
          </span>
        ))}
      </div>
      <p className="ml-12 text-center">Stated probability</p>
    </figure>
  )
}

const binText = ({ stated, hit_rate, calls }: CalibrationBin): string =>
  `stated ${whole(stated)}, ${whole(hit_rate)} hits of ${callsText(calls)}`

/** Shows the calibration as bars. The line marks the stated probability. */
const CalibrationList = ({ bins }: CalibrationProps) => (
  <ul className="grid gap-1.5" aria-label="Hit rate by stated probability">
    {bins.map(({ from, to, calls, stated, hit_rate }) => (
      <li key={from} className="grid grid-cols-[6rem_1fr_8rem] items-center gap-2">
        <span className="text-xs whitespace-nowrap text-muted">
          {whole(from)} to {whole(to)}
        </span>
        <span aria-hidden className="relative h-2.5 rounded-full bg-raised">
          <span
            className="absolute inset-y-0 left-0 rounded-full bg-accent"
            style={{ width: `${hit_rate * 100}%` }}
          />
          <span
            className="absolute -inset-y-1 w-0.5 bg-text"
            style={{ left: `${stated * 100}%` }}
            title={`stated ${whole(stated)}`}
          />
        </span>
        <span className="text-right text-xs text-muted">
          {whole(hit_rate)} hits, {callsText(calls)}
        </span>
      </li>
    ))}
  </ul>
)
