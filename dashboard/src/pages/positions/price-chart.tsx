import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { readEvents } from '../../api/queries.ts'
import { serverNow } from '../../api/server-clock.ts'
import type { EventItem, Position } from '../../api/types.ts'
import { useRecentEvents } from '../../live/live.ts'
import { type Candle, Chart, type ChartSeries, type Level, type Marker } from '../../ui/chart/chart.tsx'
import { formatPrice, formatWords } from '../../ui/format.ts'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'

/** The price while the position was open, with entry and exit. */
export const PriceChart = ({ position }: { readonly position: Position }) => {
  const { query, prices } = usePrices(position)
  const [fitLevels, setFitLevels] = useState(true)
  return (
    <Section title={`Price of ${position.asset}`} hint={hintOf(prices)}>
      <QueryContent query={query} what="prices">
        {() =>
          prices.candles.length === 0 ? (
            <Empty title="No prices for this period">
              Prices come from the bars of the market feed or from price signals; none was stored while this
              position was open.
            </Empty>
          ) : (
            <>
              <label className="flex items-center gap-1.5 text-xs text-muted">
                <input
                  type="checkbox"
                  className="accent-accent"
                  checked={fitLevels}
                  onChange={(event) => setFitLevels(event.target.checked)}
                />
                Scale to stop and target
              </label>
              <Candles position={position} prices={prices} fitLevels={fitLevels} />
              {prices.isCut ? (
                <p className="text-xs text-muted">The chart does not reach back to the entry.</p>
              ) : null}
            </>
          )
        }
      </QueryContent>
    </Section>
  )
}

interface CandlesProps {
  readonly position: Position
  readonly prices: Prices
  readonly fitLevels: boolean
}

const Candles = ({ position, prices, fitLevels }: CandlesProps) => {
  const { entry_price, stop_loss, take_profit, exit_price, direction, opened_at, closed_at, exit_reason } =
    position
  const { kind, candles } = prices
  const series = useMemo(
    (): readonly ChartSeries[] =>
      kind === 'bars'
        ? [{ kind: 'candles', points: candles }]
        : [{ kind: 'line', points: candles.map(({ ts, close }) => ({ ts, value: close })) }],
    [kind, candles],
  )
  const levels = useMemo(
    (): readonly Level[] => [
      { value: entry_price, title: 'entry', tone: 'accent' },
      ...(stop_loss === null ? [] : [{ value: stop_loss, title: 'stop', tone: 'bad' as const }]),
      ...(take_profit === null ? [] : [{ value: take_profit, title: 'target', tone: 'good' as const }]),
      ...(exit_price === null ? [] : [{ value: exit_price, title: 'exit', tone: 'neutral' as const }]),
    ],
    [entry_price, stop_loss, take_profit, exit_price],
  )
  const first = candles[0]?.ts ?? ''
  const markers = useMemo(
    (): readonly Marker[] => [
      // A marker before the first bar would be drawn at the wrong time.
      ...(opened_at < first
        ? []
        : [{ ts: opened_at, text: direction, tone: 'accent' as const, place: placeOf(direction, 'in') }]),
      ...(closed_at === null
        ? []
        : [
            {
              ts: closed_at,
              text: formatWords(exit_reason ?? 'exit'),
              tone: 'warn' as const,
              place: placeOf(direction, 'out'),
            },
          ]),
    ],
    [direction, opened_at, closed_at, exit_reason, first],
  )
  return (
    <Chart
      label={labelOf(position)}
      series={series}
      levels={levels}
      markers={markers}
      fitLevels={fitLevels}
      heightPx={300}
    />
  )
}

/** Places buys below the price, sells above. */
const placeOf = (direction: Position['direction'], way: 'in' | 'out'): Marker['place'] =>
  (direction === 'long') === (way === 'in') ? 'below' : 'above'

const labelOf = ({ asset, entry_price, stop_loss, take_profit, exit_price }: Position): string =>
  [
    `Price of ${asset}: entry at ${formatPrice(entry_price)}`,
    stop_loss === null ? '' : `stop at ${formatPrice(stop_loss)}`,
    take_profit === null ? '' : `target at ${formatPrice(take_profit)}`,
    exit_price === null ? '' : `exit at ${formatPrice(exit_price)}`,
  ]
    .filter((part) => part !== '')
    .join(', ')

const hintOf = ({ kind, candles }: Prices): string =>
  candles.length === 0 ? '' : `${candles.length} ${kind === 'bars' ? 'bars' : 'prices'}`

const BARS_MAX = 1500
const PAGE_BARS = 500
/** Share of the holding time shown before the entry and after the exit, with a minimum. */
const MARGIN_SHARE = 0.5
const MARGIN_MS_MIN = 10 * 60_000

interface Prices {
  /** Bars of the market feed, or price signals where there are none. */
  readonly kind: 'bars' | 'quotes'
  readonly candles: readonly Candle[]
  /** True if the entry is older than the shown range. */
  readonly isCut: boolean
}

/** The bars around a position: stored ones, followed by new ones while the chart is open. */
const usePrices = (position: Position) => {
  const { asset, id, opened_at, closed_at } = position
  const query = useQuery({
    queryKey: ['prices', id, closed_at],
    queryFn: ({ signal }) => readPrices(position, signal),
    staleTime: Infinity,
    gcTime: 0,
  })
  const bars = useRecentEvents(
    (event) => closed_at === null && isPrice(event) && event.payload['symbol'] === asset,
    { older: query.data, limit: BARS_MAX },
  )
  const newest = bars[0]?.id
  const prices = useMemo(
    (): Prices => {
      const fromIso = new Date(rangeOf(position).fromMs).toISOString()
      // Bars that were filled in later were recorded in this range, but belong to another time.
      const hasBars = bars.some(isBar)
      const candles = bars
        .filter((event) => !hasBars || isBar(event))
        .flatMap(candleOf)
        .filter(({ ts }) => ts >= fromIso)
        .toReversed()
      return { kind: hasBars ? 'bars' : 'quotes', candles, isCut: (candles[0]?.ts ?? '') > opened_at }
    },
    // A new bar or price refetches.
    [newest, query.data, opened_at],
  )
  return { query, prices }
}

/** An open position has no end. */
const rangeOf = ({
  opened_at,
  closed_at,
}: Position): { readonly fromMs: number; readonly toMs: number | null } => {
  const openedMs = Date.parse(opened_at)
  const endMs = closed_at === null ? serverNow() : Date.parse(closed_at)
  const marginMs = Math.max(MARGIN_MS_MIN, (endMs - openedMs) * MARGIN_SHARE)
  return { fromMs: openedMs - marginMs, toMs: closed_at === null ? null : endMs + marginMs }
}

const isBar = ({ type }: EventItem): boolean => type.startsWith('market.bar.')
const isPrice = (event: EventItem): boolean => isBar(event) || event.type.startsWith('signal.price_ws.')

const readPrices = async (position: Position, signal: AbortSignal): Promise<readonly EventItem[]> => {
  const bars = await readAll('market.bar', position, signal)
  return bars.length > 0 ? bars : readAll('signal.price_ws', position, signal)
}

const readAll = async (
  type: string,
  position: Position,
  signal: AbortSignal,
): Promise<readonly EventItem[]> => {
  const { fromMs, toMs } = rangeOf(position)
  const range = {
    from: new Date(fromMs).toISOString(),
    ...(toMs === null ? {} : { to: new Date(toMs).toISOString() }),
  }
  const found: EventItem[] = []
  let before = {}
  for (;;) {
    const page = await readEvents(
      { type, symbol: position.asset, limit: PAGE_BARS, ...range, ...before },
      signal,
    )
    found.push(...page.items)
    if (page.next_seq === null || found.length >= BARS_MAX) return found
    before = { before_seq: page.next_seq }
  }
}

const candleOf = ({ ts: at, payload }: EventItem): readonly Candle[] => {
  const { price } = payload
  if (typeof price === 'number') {
    return [{ ts: at, open: price, high: price, low: price, close: price }]
  }
  const { open_ts: ts, open, high, low, close } = payload
  if (typeof ts !== 'string') return []
  if (typeof open !== 'number' || typeof high !== 'number') return []
  if (typeof low !== 'number' || typeof close !== 'number') return []
  return [{ ts, open, high, low, close }]
}
