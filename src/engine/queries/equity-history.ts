import { standingOf } from '../../core/account.ts'
import { symbolRef } from '../../core/log/refs.ts'
import type { Position } from '../../core/positions/positions.ts'
import {
  viewEquityHistory,
  type EquityHistoryView,
  type Held,
  type PricePoint,
} from '../../core/views/equity-history.ts'
import { payloadOf } from '../../core/views/stored-payload.ts'
import { unitsNumber, usdNumber } from '../../core/vocabulary/money.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { isoNow } from '../iso-now.ts'
import type { Reader } from './reader.ts'

const POINTS = 240
const HOUR_MS = 3_600_000
const PAGE = 500

/** Rows of one symbol that are looked at; a curve that would need more begins later. */
const EXAMINED_MAX = 4000

export const equityHistoryOf = async (
  reader: Reader,
  hours: number,
  clock: Clock,
): Promise<EquityHistoryView> => {
  const state = await reader.fresh()
  const { ledger, positions } = state
  const nowMs = clock.now()
  const [first] = await reader.log.read({ order: 'asc', limit: 1 })
  const wantedMs = Math.max(nowMs - hours * HOUR_MS, first === undefined ? nowMs : Date.parse(first.ts))
  const held = [...positions.values()]
    .map(heldOf)
    .filter(({ end }) => end === null || end.closedAtMs > wantedMs)
  const prices = new Map<string, readonly PricePoint[]>()
  for (const asset of new Set(held.map((position) => position.asset))) {
    prices.set(asset, await pricesOf(reader.log, asset, wantedMs))
  }
  return viewEquityHistory({
    nowMs,
    sinceMs: Math.min(nowMs, Math.max(wantedMs, coveredSince(held, prices))),
    points: POINTS,
    equityUsd: usdNumber(standingOf(state, isoNow(clock)).equity),
    settledUsd: usdNumber(ledger.startBalance + ledger.realized),
    held,
    prices,
  })
}

const heldOf = ({ terms, holding, end }: Position): Held => ({
  asset: terms.asset,
  sign: terms.direction === 'long' ? 1 : -1,
  quantity: unitsNumber(holding.quantity),
  entryPrice: unitsNumber(holding.entryPrice),
  // Entry and exit cost about the same.
  entryFeesUsd: usdNumber(holding.fees) / (end === null ? 1 : 2),
  openedAtMs: Date.parse(terms.openedAt),
  end: end === null ? null : { closedAtMs: Date.parse(end.closedAt), realizedUsd: usdNumber(end.realized) },
})

/** Closes of bars since then, oldest first. */
const pricesOf = async (log: EventLog, asset: string, sinceMs: number): Promise<readonly PricePoint[]> => {
  const newestFirst: PricePoint[] = []
  let before: number | undefined
  for (let examined = 0; examined < EXAMINED_MAX; examined += PAGE) {
    const rows = await log.read({
      about: symbolRef(asset),
      order: 'desc',
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    })
    for (const row of rows) {
      const close = row.type === 'market.bar.v1' ? payloadOf(row)?.['close'] : undefined
      if (typeof close === 'number') newestFirst.push({ atMs: Date.parse(row.ts), price: close })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE || Date.parse(last.ts) < sinceMs) break
    before = last.seq
  }
  return newestFirst.toReversed()
}

/** From when on a price is known for everything that was held. */
const coveredSince = (held: readonly Held[], prices: ReadonlyMap<string, readonly PricePoint[]>): number =>
  Math.max(
    -Infinity,
    ...held.map(({ asset, openedAtMs }) => {
      const first = prices.get(asset)?.[0]
      return first === undefined || first.atMs <= openedAtMs ? -Infinity : first.atMs
    }),
  )
