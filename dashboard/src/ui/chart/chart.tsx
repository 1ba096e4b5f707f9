import { lazy, Suspense } from 'react'
import type { Tone } from '../badge.tsx'
import { Empty, Loading } from '../states.tsx'

const TimeChart = lazy(async () => {
  try {
    return { default: (await import('./time-chart.tsx')).TimeChart }
  } catch {
    // The service is down or was updated. The rest of the page still works.
    return { default: NoChart }
  }
})

const NoChart = ({ heightPx = 240 }: ChartProps) => (
  <div className="grid place-items-center" style={{ minHeight: heightPx }}>
    <Empty title="The chart could not be loaded">Reload the page once the service answers.</Empty>
  </div>
)

/** A chart over time. Its library is loaded when the first chart is drawn. */
export const Chart = (props: ChartProps) => (
  <Suspense
    fallback={
      <div className="grid place-items-center" style={{ height: props.heightPx ?? 240 }}>
        <Loading what="the chart" />
      </div>
    }
  >
    <TimeChart {...props} />
  </Suspense>
)

export type ChartSeries =
  | {
      readonly kind: 'area' | 'line' | 'steps'
      readonly tone?: Tone
      readonly points: readonly { readonly ts: string; readonly value: number }[]
    }
  | { readonly kind: 'candles'; readonly tone?: undefined; readonly points: readonly Candle[] }

export interface Candle {
  readonly ts: string
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** A horizontal line: entry, stop or target. */
export interface Level {
  readonly value: number
  readonly title: string
  readonly tone?: Tone
}

/** An event at a time. It is drawn at a point of the first series. */
export interface Marker {
  readonly ts: string
  readonly text: string
  readonly tone?: Tone
  readonly place: 'above' | 'below'
}

export interface ChartProps {
  /** Description of the chart in a sentence, for screen readers. */
  readonly label: string
  /** Pass the same array while nothing has changed (useMemo). */
  readonly series: readonly ChartSeries[]
  readonly markers?: readonly Marker[]
  readonly levels?: readonly Level[]
  /** Extends the scale to all levels, however far they are from the series. */
  readonly fitLevels?: boolean
  readonly heightPx?: number
  readonly format?: (value: number) => string
}
