import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi, queryOf } from '../../api/client.ts'
import type { EventItem, EventPage } from '../../api/log.ts'
import type { Position } from '../../api/trading.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import type { Candle } from '../../ui/chart/chart-props.ts'

const BARS_MAX = 1500
const PAGE_BARS = 500
/** So much of the time held is shown before the entry and behind the exit, and never less than a little. */
const MARGIN_SHARE = 0.5
const MARGIN_MS_MIN = 10 * 60_000

export interface Prices {
  /** Bars of the market feed, or where there is none, prices that producers told. */
  readonly kind: 'bars' | 'quotes'
  readonly candles: readonly Candle[]
  /** The entry is older than what is shown. */
  readonly isCut: boolean
}

/** The bars around a position: stored ones, and behind them those that come while one looks. */
export const usePrices = (position: Position) => {
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
    // The newest bar tells whether there is anything new.
    [newest, query.data, opened_at],
  )
  return { query, prices }
}

/** Open positions go on: they have no end. */
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
  let beforeSeq: number | undefined
  for (;;) {
    const query = {
      type,
      symbol: position.asset,
      limit: PAGE_BARS,
      before_seq: beforeSeq,
      ...range,
    }
    const page = await callApi<EventPage>(`/events${queryOf(query)}`, { signal })
    found.push(...page.items)
    if (page.next_seq === null || found.length >= BARS_MAX) return found
    beforeSeq = page.next_seq
  }
}

const candleOf = ({ ts: toldAt, payload }: EventItem): readonly Candle[] => {
  const { price } = payload
  if (typeof price === 'number') {
    return [{ ts: toldAt, open: price, high: price, low: price, close: price }]
  }
  const { open_ts: ts, open, high, low, close } = payload
  if (typeof ts !== 'string') return []
  if (typeof open !== 'number' || typeof high !== 'number') return []
  if (typeof low !== 'number' || typeof close !== 'number') return []
  return [{ ts, open, high, low, close }]
}
