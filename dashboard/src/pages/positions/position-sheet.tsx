import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { isNotFound } from '../../api/client.ts'
import { queries, readEvents } from '../../api/queries.ts'
import type { EventItem, ExplainedConviction, Position } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useRecentEvents } from '../../live/live.ts'
import { AdoptedBadge, Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Candle, Chart, type ChartSeries, type Level, type Marker } from '../../ui/chart/chart.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatDuration, formatNumber, formatPercent, formatPrice, formatWords } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Percent, Pnl, Price, Quantity, Stat, Unknown, Usd } from '../../ui/numbers.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time, useNow } from '../../ui/time.tsx'
import { EventLinks } from '../audit/event-sheet.tsx'
import { InputsTable } from '../brain/convictions.tsx'
import { heldMs, isOpen, pnlOf, returnOf, rMultipleOf } from './figures.ts'
import { ExitBadge } from './page.tsx'
import { useClose } from './use-close.ts'

/** One position: result, price chart, terms, reasons and events. */
export const PositionSheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.position(id))
  const title = query.data === undefined ? 'Position' : `${query.data.asset} ${query.data.direction}`
  return (
    <Dialog title={title} form="sheet" onClose={onClose}>
      <QueryContent query={query} what="the position">
        {(position) => (
          <div className="grid gap-6">
            <Result position={position} />
            <PriceChart key={position.closed_at} position={position} />
            <Terms position={position} />
            <Reasons position={position} />
            <History id={position.id} />
          </div>
        )}
      </QueryContent>
    </Dialog>
  )
}

const Result = ({ position }: { readonly position: Position }) => {
  const { close, closingId } = useClose()
  const held = useNow((nowMs) => formatDuration(heldMs(position, nowMs)))
  const multiple = rMultipleOf(position)
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap gap-1.5">
          <DirectionBadge direction={position.direction} />
          <Badge tone={isOpen(position) ? 'accent' : 'neutral'}>{formatWords(position.status)}</Badge>
          {position.adopted ? <AdoptedBadge /> : null}
          {position.exit_reason === null ? null : <ExitBadge reason={position.exit_reason} />}
        </div>
        {isOpen(position) ? (
          <Button
            look="danger"
            size="small"
            busy={closingId !== null}
            disabled={position.status === 'closing'}
            onClick={() => void close(position)}
          >
            Close position
          </Button>
        ) : null}
      </div>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat label={isOpen(position) ? 'Unrealized' : 'Realized, net'}>
          <Pnl value={pnlOf(position)} />
        </Stat>
        <Stat label="Return">
          <Percent value={returnOf(position)} toned />
        </Stat>
        <Stat label="R multiple">
          {multiple === null ? <Unknown why="no stop" /> : `${formatNumber(multiple)} R`}
        </Stat>
        <Stat label="Held">{held}</Stat>
      </dl>
    </div>
  )
}

const Terms = ({ position }: { readonly position: Position }) => (
  <Section title="Terms">
    <div className="grid gap-x-6 gap-y-1.5 sm:grid-cols-2">
      <Facts facts={pricesOf(position)} />
      <Facts facts={circumstancesOf(position)} />
    </div>
  </Section>
)

const pricesOf = (position: Position) => ({
  Entry: <Price value={position.entry_price} />,
  ...(isOpen(position)
    ? { Mark: <Price value={position.mark_price} /> }
    : { Exit: <Price value={position.exit_price} /> }),
  Stop: <Price value={position.stop_loss} />,
  Target: <Price value={position.take_profit} />,
  Size: <Usd value={position.size_notional} />,
  Quantity: <Quantity value={position.quantity} unit={position.asset} />,
})

const circumstancesOf = (position: Position) => ({
  Opened: <Time at={position.opened_at} />,
  Closed: <Time at={position.closed_at} />,
  Fees: <Usd value={position.fees_usd} />,
  Leverage:
    position.leverage === null ? (
      <Unknown />
    ) : (
      `${formatNumber(position.leverage)}×, ${position.margin_type ?? ''}`
    ),
  'Regime at entry': position.regime_at_entry ?? <Unknown />,
  Venue: position.platform,
  Id: <Id id={position.id} />,
})

/** All events about the position, oldest first. */
const History = ({ id }: { readonly id: string }) => {
  const query = useQuery(queries.events({ about: id, order: 'asc', limit: 100 }))
  return (
    <Section title="Events">
      <QueryContent query={query} what="its events">
        {({ items, next_seq }) => (
          <>
            <EventLinks events={items} otherwise="No events." />
            {next_seq === null ? null : (
              <PageLink to="/audit" search={{ about: id }}>
                All events about it
              </PageLink>
            )}
          </>
        )}
      </QueryContent>
    </Section>
  )
}

/** The price while the position was open, with entry and exit. */
const PriceChart = ({ position }: { readonly position: Position }) => {
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

/** Buys below the price, sells above. */
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
/** So much of the time held is shown before the entry and behind the exit, and never less than a little. */
const MARGIN_SHARE = 0.5
const MARGIN_MS_MIN = 10 * 60_000

interface Prices {
  /** Bars of the market feed, or price signals where there are none. */
  readonly kind: 'bars' | 'quotes'
  readonly candles: readonly Candle[]
  /** The entry is older than what is shown. */
  readonly isCut: boolean
}

/** The bars around a position: stored ones, and behind them those that come while one looks. */
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
      // What was filled in later was recorded in this time and is of another.
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
  const endMs = closed_at === null ? Date.now() : Date.parse(closed_at)
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

/** What was known when it was opened: the conviction, and the share of each signal in it. */
const Reasons = ({
  position: { adopted, conviction_id, asset, platform },
}: {
  readonly position: Position
}) => (
  <Section title="Why it was opened">
    {adopted ? (
      <p className="text-[13px] text-muted">
        It was not opened here: {platform} holds it, so it was adopted. It has no stop and no target, and the
        brain does not exit it. Close it here, or at the venue.
      </p>
    ) : conviction_id === null ? (
      <p className="text-[13px] text-muted">It was not opened by a conviction of the brain.</p>
    ) : (
      <Conviction id={conviction_id} symbol={asset} />
    )}
  </Section>
)

const Conviction = ({ id, symbol }: { readonly id: string; readonly symbol: string }) => {
  const query = useQuery(queries.explanation(id))
  if (isNotFound(query.error)) {
    return <p className="text-[13px] text-muted">Its conviction is not in the log.</p>
  }
  return (
    <QueryContent query={query} what="the inputs">
      {({ convictions }) => {
        const found =
          convictions.find(({ conviction_id }) => conviction_id === id) ??
          convictions.find((conviction) => conviction.symbol === symbol)
        return found === undefined ? (
          <p className="text-[13px] text-muted">The cycle has no conviction for {symbol}.</p>
        ) : (
          <Explained conviction={found} />
        )
      }}
    </QueryContent>
  )
}

const Explained = ({ conviction }: { readonly conviction: ExplainedConviction }) => {
  const inputs = conviction.inputs.toSorted(
    (one, other) => Math.abs(other.contribution) - Math.abs(one.contribution),
  )
  return (
    <div className="grid gap-3">
      <Facts
        facts={{
          Conviction: `${conviction.direction}, ${formatNumber(conviction.effective_conviction, 1)} after the counter-thesis`,
          'For and against': `${formatNumber(conviction.pcs_score, 1)} for, ${formatNumber(conviction.cts_score, 1)} against`,
          Confidence: formatPercent(conviction.confidence, { digits: 0 }),
          Coverage: formatPercent(conviction.coverage, { digits: 0 }),
        }}
      />
      <InputsTable inputs={inputs} />
      <PageLink to="/brain" search={{ why: conviction.conviction_id }}>
        Full decision
      </PageLink>
    </div>
  )
}
