import { useMemo, useState } from 'react'
import type { Position } from '../../api/trading.ts'
import type { ChartSeries, Level, Marker } from '../../ui/chart/chart-props.ts'
import { Chart } from '../../ui/chart/chart.tsx'
import { formatPrice, formatWords } from '../../ui/format.ts'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty } from '../../ui/states.tsx'
import { usePrices, type Prices } from './use-prices.ts'

/** What the price did while the position was held, and where it went in and out. */
export const PriceChart = ({ position }: { readonly position: Position }) => {
  const { query, prices } = usePrices(position)
  const [fitLevels, setFitLevels] = useState(true)
  return (
    <Section title={`Price of ${position.asset}`} hint={hintOf(prices)}>
      <QueryContent query={query} what="prices">
        {() =>
          prices.candles.length === 0 ? (
            <Empty title="No prices of this time">
              Prices are drawn from the bars of the market feed, or from those that producers tell; none was
              stored while this position was held.
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
                <p className="text-xs text-muted">
                  It was held for longer than the bars shown here reach back.
                </p>
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
      // A marker before the first bar would be drawn at it, and lie.
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

/** What is bought stands below the price, what is sold above. */
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
