import { DAY_MS } from '../../core/shared/time.ts'
import type { ClosedTrade } from '../account.ts'
import type { Candle } from '../price-history.ts'
import { coordinate, html, NOTHING, percentText, priceText, timeText, usdText, type Html } from './markup.ts'

/** A line of a chart. Values are at places from 0 to 1. */
export interface ChartLine {
  readonly name: string
  /** Name of the tone in the style sheet. */
  readonly tone: string
  readonly points: readonly (readonly [place: number, value: number])[]
  readonly isFilled?: boolean
}

interface ChartOptions {
  readonly label: string
  readonly lines: readonly ChartLine[]
  /** Labels below the chart, at even distances. */
  readonly xLabels: readonly string[]
  readonly textOf: (value: number) => string
  /** Values that the chart always includes. */
  readonly includes?: readonly number[]
  /** Draws a line at this value. */
  readonly baseline?: number
  readonly isLow?: boolean
}

/** A chart as wide as its container. The lines are stretched, the texts are not. */
export const lineChart = ({
  label,
  lines,
  xLabels,
  textOf,
  includes = [],
  baseline,
  isLow,
}: ChartOptions): Html => {
  const values = [...lines.flatMap(({ points }) => points.map(([, value]) => value)), ...includes]
  if (values.length === 0) return NOTHING
  const { low, high, ticks } = scaleOf(values)
  const yOf = (value: number): number => coordinate(100 - ((value - low) / (high - low)) * 100)
  const pathOf = (points: ChartLine['points']): string =>
    points
      .map(([place, value], index) => `${index === 0 ? 'M' : 'L'}${coordinate(place * 1000)} ${yOf(value)}`)
      .join('')
  const areaOf = (points: ChartLine['points']): string => {
    const [first] = points
    const last = points.at(-1)
    if (first === undefined || last === undefined) return ''
    const edge = yOf(baseline ?? low)
    return `${pathOf(points)}L${coordinate(last[0] * 1000)} ${edge}L${coordinate(first[0] * 1000)} ${edge}Z`
  }
  return html`<figure class="chart ${isLow === true ? 'low' : ''}">
    <div class="plot">
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="${label}">
        ${ticks.map((tick) => html`<line class="grid" x1="0" x2="1000" y1="${yOf(tick)}" y2="${yOf(tick)}" />`)}
        ${baseline === undefined ? NOTHING : html`<line class="base" x1="0" x2="1000" y1="${yOf(baseline)}" y2="${yOf(baseline)}" />`}
        ${lines.map(
          ({ tone, points, isFilled }) =>
            html`${isFilled === true ? html`<path class="area ${tone}" d="${areaOf(points)}" />` : NOTHING}<path
                class="line ${tone}"
                d="${pathOf(points)}"
              />`,
        )}
      </svg>
      ${ticks.map((tick) => html`<span class="tick" style="top:${yOf(tick)}%">${textOf(tick)}</span>`)}
    </div>
    <div class="xs">${xLabels.map((text) => html`<span>${text}</span>`)}</div>
    <figcaption>${lines.map(({ name, tone }) => html`<span class="key ${tone}">${name}</span>`)}</figcaption>
  </figure>`
}

/** Days at even distances between two times. The time of day is added if there are few days. */
export const timeLabels = (from: string | null, to: string | null): readonly string[] => {
  if (from === null || to === null) return []
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  if (!Number.isFinite(toMs - fromMs)) return []
  const digits = toMs - fromMs < LABELS * 2 * DAY_MS ? 16 : 10
  return Array.from({ length: LABELS }, (_, index) =>
    new Date(fromMs + ((toMs - fromMs) * index) / (LABELS - 1))
      .toISOString()
      .slice(5, digits)
      .replace('T', ' '),
  )
}

const LABELS = 5

/** Converts times to places from 0 to 1. */
export const placed = (points: readonly (readonly [ms: number, value: number])[]): ChartLine['points'] => {
  const fromMs = points[0]?.[0] ?? 0
  const spanMs = (points.at(-1)?.[0] ?? 0) - fromMs || 1
  return points.map(([ms, value]) => [(ms - fromMs) / spanMs, value])
}

interface Bar {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Histogram: number of values in each range. */
export const histogram = (label: string, values: readonly number[]): Html => {
  const bars = binned(values)
  const most = Math.max(...bars.map(({ count }) => count))
  if (bars.length === 0) return NOTHING
  const width = 1000 / bars.length
  return html`<figure class="chart low">
    <div class="plot">
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="${label}">
        ${bars.map(({ from, to, count }, index) => {
          const height = coordinate((count / most) * 96)
          const tone = (from + to) / 2 < 0 ? 'loss' : 'gain'
          return html`<rect
            class="bar ${tone}"
            x="${coordinate(index * width + width * 0.06)}"
            y="${coordinate(100 - height)}"
            width="${coordinate(width * 0.88)}"
            height="${height}"
            ><title>${percentText(from)} to ${percentText(to)}: ${count} days</title></rect
          >`
        })}</svg
      ><span class="tick" style="top:4%">${most}</span>
    </div>
    <div class="xs">
      <span>${percentText(bars[0]?.from ?? 0)}</span><span>${percentText(bars.at(-1)?.to ?? 0)}</span>
    </div>
  </figure>`
}

const BINS_MAX = 40

/** Zero is an edge, so that no bin holds both gains and losses. */
const binned = (values: readonly number[]): readonly Bar[] => {
  if (values.length === 0) return []
  const low = Math.min(0, ...values)
  const high = Math.max(0, ...values)
  const bins = Math.min(BINS_MAX, Math.max(8, Math.ceil(2 * Math.cbrt(values.length))))
  const width = (high - low) / bins || 0.01
  const first = Math.floor(low / width)
  const counts = new Map<number, number>()
  for (const value of values) {
    const bin = Math.floor(value / width)
    counts.set(bin, (counts.get(bin) ?? 0) + 1)
  }
  const last = Math.max(first, ...counts.keys())
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    from: (first + index) * width,
    to: (first + index + 1) * width,
    count: counts.get(first + index) ?? 0,
  }))
}

const CANDLES_HEIGHT = 300
const CANDLES_WIDTH_MIN = 1028
/** Width for the prices, as in the style sheet. */
const GUTTER_PX = 60
const TRADES_DRAWN_MAX = 1000

/** Prices with the trades drawn on them. The chart scrolls on a narrow screen. */
export const candleChart = (
  symbol: string,
  candles: readonly Candle[],
  trades: readonly ClosedTrade[],
): Html => {
  const drawn = trades.slice(-TRADES_DRAWN_MAX)
  const prices = drawn.flatMap(({ entry_price, exit_price }) => [entry_price, exit_price])
  const values = [...candles.flatMap(([, , high, low]) => [high, low]), ...prices]
  if (candles.length === 0) return NOTHING
  const { low, high, ticks } = scaleOf(values)
  const step = Math.min(16, Math.max(3, CANDLES_WIDTH_MIN / candles.length))
  const width = Math.ceil(step * candles.length)
  const yOf = (price: number): number => coordinate((1 - (price - low) / (high - low)) * CANDLES_HEIGHT)
  const xAt = (iso: string): number => coordinate((placeOf(candles, Date.parse(iso)) + 0.5) * step)
  const [first] = candles
  const middle = candles[Math.floor(candles.length / 2)]
  const last = candles.at(-1)
  return html`<figure class="candles">
    <div class="scroll" role="region" aria-label="Trades of ${symbol} on candles" tabindex="0">
      <div class="canvas" style="width:${width + GUTTER_PX}px">
        <svg
          width="${width}"
          height="${CANDLES_HEIGHT}"
          viewBox="0 0 ${width} ${CANDLES_HEIGHT}"
          role="img"
          aria-label="Candles of ${symbol} with ${drawn.length} trades"
        >
          ${ticks.map((tick) => html`<line class="grid" x1="0" x2="${width}" y1="${yOf(tick)}" y2="${yOf(tick)}" />`)}
          ${candles.map((candle, index) => candleShape(candle, (index + 0.5) * step, Math.max(1, step * 0.6), yOf))}
          ${drawn.map((trade) => tradeShape(trade, { x: xAt(trade.opened_at), y: yOf(trade.entry_price) }, { x: xAt(trade.closed_at), y: yOf(trade.exit_price) }))}</svg
        >${ticks.map((tick) => html`<span class="tick" style="top:${yOf(tick)}px">${priceText(tick)}</span>`)}
        <div class="xs">
          <span>${dayText(first?.[0])}</span><span>${dayText(middle?.[0])}</span
          ><span>${dayText(last?.[0])}</span>
        </div>
      </div>
    </div>
    <figcaption>
      <span class="key gain">won</span><span class="key loss">lost</span
      ><span>▲ long entry ▼ short entry ● exit</span>
    </figcaption>
  </figure>`
}

const candleShape = (
  [, open, high, low, close]: Candle,
  x: number,
  width: number,
  yOf: (price: number) => number,
): Html => {
  const top = yOf(Math.max(open, close))
  const height = Math.max(0.8, yOf(Math.min(open, close)) - top)
  const tone = close >= open ? 'up' : 'down'
  return html`<path class="${tone}" d="M${coordinate(x)} ${yOf(high)}V${yOf(low)}" /><rect
      class="${tone}"
      x="${coordinate(x - width / 2)}"
      y="${coordinate(top)}"
      width="${coordinate(width)}"
      height="${coordinate(height)}"
    />`
}

interface Place {
  readonly x: number
  readonly y: number
}

const tradeShape = (trade: ClosedTrade, entry: Place, exit: Place): Html => {
  const tone = trade.net_usd >= 0 ? 'gain' : 'loss'
  const tip = trade.direction === 'long' ? -1 : 1
  const triangle = `M${entry.x} ${entry.y}l5 ${-tip * 9}h-10Z`
  return html`<g class="trade ${tone}"
    ><title>
      ${trade.direction} ${trade.symbol}, ${timeText(trade.opened_at)} at ${priceText(trade.entry_price)} to
      ${timeText(trade.closed_at)} at ${priceText(trade.exit_price)}: ${usdText(trade.net_usd)} USD
      (${trade.exit_reason})</title
    ><path class="way" d="M${entry.x} ${entry.y}L${exit.x} ${exit.y}" /><path
      class="entry"
      d="${triangle}" /><circle cx="${exit.x}" cy="${exit.y}" r="3.5"
  /></g>`
}

/** The last candle that opened by this time. */
const placeOf = (candles: readonly Candle[], ms: number): number => {
  let low = 0
  let high = candles.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((candles[middle]?.[0] ?? Infinity) <= ms) low = middle
    else high = middle - 1
  }
  return low
}

const dayText = (ms: number | undefined): string =>
  ms === undefined ? '' : new Date(ms).toISOString().slice(0, 10)

/** A range around the values, with round numbers as labels. */
const scaleOf = (values: readonly number[]) => {
  let low = Infinity
  let high = -Infinity
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  if (low === high) {
    const margin = Math.abs(low) * 0.01 || 0.01
    low -= margin
    high += margin
  }
  const margin = (high - low) * 0.04
  const step = roundStep((high - low) / TICKS_MAX)
  const ticks: number[] = []
  for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) ticks.push(tick * step)
  return { low: low - margin, high: high + margin, ticks }
}

const TICKS_MAX = 6

/** The smallest of 1, 2 or 5 times a power of ten that is at least this large. */
const roundStep = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power
}
