import { lazy, Suspense } from 'react'
import { Loading } from '../states.tsx'
import type { ChartProps } from './chart-props.ts'

const TimeChart = lazy(async () => ({ default: (await import('./time-chart.tsx')).TimeChart }))

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
