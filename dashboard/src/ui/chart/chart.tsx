import { lazy, Suspense } from 'react'
import { Empty, Loading } from '../states.tsx'
import type { ChartProps } from './chart-props.ts'

const TimeChart = lazy(async () => {
  try {
    return { default: (await import('./time-chart.tsx')).TimeChart }
  } catch {
    // The service is down, or a newer one: the rest of the page is worth seeing all the same.
    return { default: NoChart }
  }
})

const NoChart = ({ heightPx = 240 }: ChartProps) => (
  <div className="grid place-items-center" style={{ minHeight: heightPx }}>
    <Empty title="The chart could not be loaded">Reload the page once the service answers.</Empty>
  </div>
)

/** A chart over time. Its library comes when the first chart is drawn. */
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
