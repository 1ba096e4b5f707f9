import {
  AreaSeries,
  type AutoscaleInfo,
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  LineType,
  type SeriesType,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { useEffect, useRef } from 'react'
import { useIsDark } from '../../app/theme.ts'
import type { Tone } from '../badge.tsx'
import { formatPrice } from '../format.ts'
import type { ChartProps, ChartSeries, Level, Marker } from './chart.tsx'
import { widened } from './scale.ts'

/** Draws with TradingView's Lightweight Charts. Loaded lazily: see chart.tsx. */
export const TimeChart = ({
  label,
  series,
  markers = [],
  levels = [],
  fitLevels = false,
  heightPx = 240,
  format = formatPrice,
}: ChartProps) => {
  const box = useRef<HTMLDivElement>(null)
  const isDark = useIsDark()
  const drawn = useRef<{ readonly chart: IChartApi; readonly series: ISeriesApi<SeriesType>[] } | null>(null)
  const shape = `${isDark ? 'dark' : 'light'} ${series.map(({ kind, tone }) => `${kind} ${tone ?? ''}`).join(',')}`

  // Created anew only when its appearance changes. The data below is updated without a flicker.
  useEffect(() => {
    if (box.current === null) return
    const chart = createChart(box.current, chartOptions(format))
    drawn.current = { chart, series: series.map((one) => addSeries(chart, one, format)) }
    return () => {
      drawn.current = null
      chart.remove()
    }
    // `shape` represents the members of the series that affect the appearance.
  }, [shape])

  useEffect(() => {
    const current = drawn.current
    if (current === null) return
    series.forEach((one, index) => current.series[index]?.setData(dataOf(one)))
    const first = current.series[0]
    if (first === undefined) return
    const scale = scaleOver(fitLevels ? levels : [])
    first.applyOptions({ autoscaleInfoProvider: (own: Autoscale) => widened(scale(own), format) })
    const lines = levels.map((level) => first.createPriceLine(lineOf(level)))
    const pins = createSeriesMarkers(first, markers.map(pinOf))
    return () => {
      if (drawn.current !== current) return
      for (const line of lines) first.removePriceLine(line)
      pins.detach()
    }
  }, [shape, series, markers, levels, fitLevels])

  // Shows the whole of a new range once. Later the viewer decides.
  const begin = series[0]?.points[0]?.ts
  useEffect(() => drawn.current?.chart.timeScale().fitContent(), [begin, shape])

  return (
    <figure className="m-0 flex h-full flex-col">
      <div
        ref={box}
        role="img"
        aria-label={label}
        className="flex-1 overflow-hidden"
        style={{ minHeight: heightPx }}
      />
      <figcaption className="pt-1 text-right text-[11px] text-muted">
        Charts by{' '}
        <a href="https://www.tradingview.com/" rel="noreferrer" target="_blank" className="underline">
          TradingView
        </a>
      </figcaption>
    </figure>
  )
}

type Autoscale = () => AutoscaleInfo | null

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

const toneColour = (tone: Tone = 'accent'): string => colour(tone === 'neutral' ? 'muted' : tone)

const seconds = (ts: string): UTCTimestamp => Math.floor(Date.parse(ts) / 1000) as UTCTimestamp

const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const CLOCK_SECONDS = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' })
const FULL = new Intl.DateTimeFormat('en-GB', {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

/** Largest type of tick mark that names a day rather than a time. */
const DAY_OF_MONTH_MARK = 2
const SECONDS_MARK = 4

const tickFormatOf = (mark: number): Intl.DateTimeFormat => {
  if (mark <= DAY_OF_MONTH_MARK) return DAY
  return mark === SECONDS_MARK ? CLOCK_SECONDS : CLOCK
}

const chartOptions = (format: (value: number) => string) => ({
  autoSize: true,
  layout: {
    background: { color: 'transparent' },
    textColor: colour('muted'),
    fontSize: 11,
    fontFamily: getComputedStyle(document.body).fontFamily,
    // The library's logo writes a style element, which the content security policy forbids. The caption names
    // TradingView.
    attributionLogo: false,
  },
  grid: { vertLines: { color: colour('line') }, horzLines: { color: colour('line') } },
  rightPriceScale: { borderColor: colour('line') },
  timeScale: {
    borderColor: colour('line'),
    timeVisible: true,
    secondsVisible: true,
    tickMarkFormatter: (time: Time, mark: number) => tickFormatOf(mark).format(new Date(Number(time) * 1000)),
  },
  localization: {
    priceFormatter: format,
    timeFormatter: (time: Time) => FULL.format(new Date(Number(time) * 1000)),
  },
  handleScroll: { vertTouchDrag: false },
})

const addSeries = (chart: IChartApi, { kind, tone }: ChartSeries, format: (value: number) => string) => {
  const priceFormat = { type: 'custom', formatter: format, minMove: 0.000_001 } as const
  const line = toneColour(tone)
  switch (kind) {
    case 'area':
      return chart.addSeries(AreaSeries, {
        lineColor: line,
        topColor: `${line}40`,
        bottomColor: `${line}05`,
        lineWidth: 2,
        priceFormat,
      })
    case 'line':
      return chart.addSeries(LineSeries, { color: line, lineWidth: 2, priceFormat, priceLineVisible: false })
    case 'steps':
      return chart.addSeries(LineSeries, {
        color: line,
        lineWidth: 2,
        lineType: LineType.WithSteps,
        priceFormat,
        priceLineVisible: false,
      })
    case 'candles': {
      const [up, down] = [colour('good'), colour('bad')]
      return chart.addSeries(CandlestickSeries, {
        upColor: up,
        downColor: down,
        wickUpColor: up,
        wickDownColor: down,
        borderVisible: false,
        priceFormat,
      })
    }
  }
}

/** Data with strictly ascending times. Of several values in one second the newest counts. */
const dataOf = (series: ChartSeries) => {
  const byTime = new Map<number, object>()
  if (series.kind === 'candles') {
    for (const { ts, open, high, low, close } of series.points)
      byTime.set(seconds(ts), { time: seconds(ts), open, high, low, close })
  } else {
    for (const { ts, value } of series.points) byTime.set(seconds(ts), { time: seconds(ts), value })
  }
  return [...byTime].toSorted(([one], [other]) => one - other).map(([, point]) => point) as never
}

/** Scale that covers the series and the levels. */
const scaleOver =
  (levels: readonly Level[]) =>
  (own: Autoscale): AutoscaleInfo | null => {
    const info = own()
    if (info?.priceRange === null || info?.priceRange === undefined || levels.length === 0) return info
    const values = levels.map(({ value }) => value)
    const priceRange = {
      minValue: Math.min(info.priceRange.minValue, ...values),
      maxValue: Math.max(info.priceRange.maxValue, ...values),
    }
    return { ...info, priceRange }
  }

const lineOf = ({ value, title, tone }: Level) => ({
  price: value,
  title,
  color: toneColour(tone),
  lineStyle: LineStyle.Dashed,
  lineWidth: 1 as const,
  axisLabelVisible: true,
})

const pinOf = ({ ts, text, tone, place }: Marker) => ({
  time: seconds(ts) as Time,
  position: place === 'above' ? ('aboveBar' as const) : ('belowBar' as const),
  shape: place === 'above' ? ('arrowDown' as const) : ('arrowUp' as const),
  color: toneColour(tone),
  text,
})
