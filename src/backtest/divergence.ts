import { r9 } from '../core/shared/numbers.ts'
import { timestampAt } from '../core/shared/time.ts'
import type { Trade, TradeBook } from './trade-book.ts'

/** Why the live result differs from the replayed one. */
export type DivergenceReason =
  | 'approval'
  | 'configuration'
  | 'costs'
  | 'delay'
  | 'earlier_difference'
  | 'kill_switch'
  | 'limits'
  | 'missed'
  | 'operator'
  | 'partial_fill'
  | 'price_checks'
  | 'size'
  | 'slippage'
  | 'strategy'
  | 'unexplained'

export type DivergenceReport = ReturnType<typeof divergenceOf>

export type DivergenceRow = ReturnType<typeof rowOf>

interface Compared {
  readonly live: TradeBook
  readonly replayed: TradeBook
  /** Maximum time between two records of the same decision: a cycle and the bar after it. */
  readonly toleranceMs: number
  readonly settings: 'recorded' | 'current'
  readonly fromMs: number | null
  readonly toMs: number | null
  /** Compares only trades that were opened in the range, each to its end. Absent for all trades. */
  readonly range?: TimeRange | undefined
}

/** Range that includes both ends. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** Matches the trades that were made with those that the same inputs lead to in a replay. */
export const divergenceOf = (compared: Compared) => {
  const { live, replayed, toleranceMs, range } = compared
  // Matched before the range is applied: a trade at an end of the range keeps its partner beyond it.
  const pairs = pairsOf(live.trades, replayed.trades, toleranceMs).filter((pair) => isIn(range, pair))
  const rows = pairs
    .map(([one, other]) => rowOf(one, other, compared))
    .toSorted((one, other) => (one.time < other.time ? -1 : 1))
  const liveTrades = pairs.flatMap(([one]) => one ?? [])
  const replayedTrades = pairs.flatMap(([, other]) => other ?? [])
  // Funding of a position that has ended belongs to no trade.
  const [liveLate, replayedLate] = range === undefined ? [live.lateCosts, replayed.lateCosts] : [0, 0]
  const livePnl = pnlOf(liveTrades) - liveLate
  const replayedPnl = pnlOf(replayedTrades) - replayedLate
  const difference = livePnl - replayedPnl
  const byReason = new Map<DivergenceReason, number>()
  for (const { reasons } of rows)
    for (const [reason, amount] of Object.entries(reasons))
      byReason.set(reason as DivergenceReason, (byReason.get(reason as DivergenceReason) ?? 0) + amount)
  const late = replayedLate - liveLate
  if (late !== 0) byReason.set('costs', (byReason.get('costs') ?? 0) + late)
  const rest = difference - sumOf([...byReason.values()])
  if (Math.abs(rest) > CENT) byReason.set('unexplained', (byReason.get('unexplained') ?? 0) + rest)
  return {
    ...coveredOf(compared),
    settings: compared.settings,
    live_trades: liveTrades.length,
    replayed_trades: replayedTrades.length,
    live_pnl_usd: r9(livePnl),
    replayed_pnl_usd: r9(replayedPnl),
    difference_usd: r9(difference),
    /** The amounts add up to the difference. The part that no row explains is `unexplained`. */
    by_reason: amountsOf([...byReason].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    rows,
  }
}

/** Rounding unit of the ledger. */
const CENT = 1e-6

const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0)

const pnlOf = (trades: readonly Trade[]): number => sumOf(trades.map(({ pnl }) => pnl))

/** Decided by the live trade if there is one, otherwise by the replayed trade. */
const isIn = (range: TimeRange | undefined, [live, replayed]: Pair): boolean => {
  const { openedMs } = live ?? replayed ?? NOTHING
  return range === undefined || (range.fromMs <= openedMs && openedMs <= range.toMs)
}

/** The part of the replayed time that is compared. */
const coveredOf = ({ fromMs, toMs, range }: Compared) => ({
  from: fromMs === null ? null : timestampAt(Math.max(fromMs, range?.fromMs ?? fromMs)),
  to: toMs === null ? null : timestampAt(Math.min(toMs, range?.toMs ?? toMs)),
})

const amountsOf = (
  amounts: readonly (readonly [DivergenceReason, number])[],
): Readonly<Partial<Record<DivergenceReason, number>>> =>
  Object.fromEntries(amounts.map(([reason, amount]) => [reason, r9(amount)]))

type Pair = readonly [Trade | null, Trade | null]

/** Matches the nearest trades in time first. A trade without a partner stays alone. */
const pairsOf = (
  live: readonly Trade[],
  replayed: readonly Trade[],
  toleranceMs: number,
): readonly Pair[] => {
  const near = live
    .flatMap((one) =>
      replayed
        .filter((other) => isAlike(one, other))
        .map((other) => ({ one, other, apartMs: Math.abs(one.openedMs - other.openedMs) })),
    )
    .filter(({ apartMs }) => apartMs <= toleranceMs)
    .toSorted((a, b) => a.apartMs - b.apartMs)
  const taken = new Set<Trade>()
  const pairs: Pair[] = []
  for (const { one, other } of near) {
    if (taken.has(one) || taken.has(other)) continue
    taken.add(one)
    taken.add(other)
    pairs.push([one, other])
  }
  for (const one of live) if (!taken.has(one)) pairs.push([one, null])
  for (const other of replayed) if (!taken.has(other)) pairs.push([null, other])
  return pairs
}

const isAlike = (one: Trade, other: Trade): boolean =>
  one.rule === other.rule && one.symbol === other.symbol && one.direction === other.direction

const rowOf = (live: Trade | null, replayed: Trade | null, compared: Compared) => {
  const parts = partsOf(live, replayed, compared)
  const reasons = new Map<DivergenceReason, number>()
  for (const [reason, amount] of parts)
    if (Math.abs(amount) > CENT) reasons.set(reason, (reasons.get(reason) ?? 0) + amount)
  const { openedMs, symbol } = live ?? replayed ?? NOTHING
  return {
    time: timestampAt(openedMs),
    symbol,
    /** Null if this side has no such trade. */
    live: live === null ? null : viewOf(live),
    replayed: replayed === null ? null : viewOf(replayed),
    /** Live result minus replayed result. */
    difference_usd: r9((live?.pnl ?? 0) - (replayed?.pnl ?? 0)),
    /** Amount of the difference for each reason. The amounts add up to the difference. */
    reasons: amountsOf([...reasons]),
  }
}

const NOTHING = { openedMs: 0, symbol: '' }

type Part = readonly [DivergenceReason, number]

const partsOf = (live: Trade | null, replayed: Trade | null, compared: Compared): readonly Part[] => {
  if (live !== null && replayed !== null) return partsOfBoth(live, replayed, compared)
  if (live !== null) return [[whyNotReplayed(live, compared), live.pnl]]
  return replayed === null ? [] : [[whyNotLive(replayed, compared), -replayed.pnl]]
}

/** Size, entry, exit and costs. Together they are the difference of the two results. */
const partsOfBoth = (live: Trade, replayed: Trade, compared: Compared): readonly Part[] => {
  const side = live.direction === 'long' ? 1 : -1
  const move = replayed.exitPrice - replayed.entryPrice
  const parts: readonly Part[] = [
    [whySize(live, replayed, compared), side * (live.quantity - replayed.quantity) * move],
    [whyEntry(live, replayed), -side * live.quantity * (live.entryPrice - replayed.entryPrice)],
    [whyExit(live, replayed, compared), side * live.quantity * (live.exitPrice - replayed.exitPrice)],
    ['costs', -(live.costs - replayed.costs)],
  ]
  const rest = live.pnl - replayed.pnl - sumOf(parts.map(([, amount]) => amount))
  return [...parts, ['unexplained', rest]]
}

const whySize = (live: Trade, replayed: Trade, compared: Compared): DivergenceReason => {
  if (live.quantity < live.orderedQuantity * (1 - 1e-9)) return 'partial_fill'
  return isReconfigured(compared, live.openedMs) && live.quantity !== replayed.quantity
    ? 'configuration'
    : 'size'
}

/** Within a minute the difference counts as a difference of price, beyond it as a delay. */
const DELAY_MS = 60_000

const whyEntry = (live: Trade, replayed: Trade): DivergenceReason =>
  Math.abs(live.openedMs - replayed.openedMs) >= DELAY_MS ? 'delay' : 'slippage'

const whyExit = (live: Trade, replayed: Trade, compared: Compared): DivergenceReason => {
  if (live.closedBy !== null || live.exitReason === 'manual') return 'operator'
  if (live.exitReason !== replayed.exitReason) {
    const atMs = Math.min(live.closedMs ?? Infinity, replayed.closedMs ?? Infinity)
    if (compared.live.isStopped(atMs) !== compared.replayed.isStopped(atMs)) return 'kill_switch'
    return isReconfigured(compared, atMs) ? 'configuration' : 'delay'
  }
  const apartMs = Math.abs((live.closedMs ?? 0) - (replayed.closedMs ?? 0))
  return apartMs >= DELAY_MS ? 'delay' : 'slippage'
}

/** Why there is no live trade. The cause that explains most comes first. */
const whyNotLive = (replayed: Trade, { live, toleranceMs }: Compared): DivergenceReason => {
  const { rule, symbol, openedMs } = replayed
  const refused = reasonsNear(live, symbol, openedMs, toleranceMs)
  if (refused.some((reason) => APPROVAL.has(reason))) return 'approval'
  if (refused.includes('kill_switch') || live.isStopped(openedMs)) return 'kill_switch'
  if (refused.some((reason) => PRICE.has(reason))) return 'price_checks'
  if (isReconfigured({ live }, openedMs)) return 'configuration'
  if (refused.length > 0) return 'limits'
  if (rule === null && !live.cyclesMs.some((atMs) => Math.abs(atMs - openedMs) <= toleranceMs))
    return 'missed'
  return isHeld(live, symbol, openedMs) ? 'earlier_difference' : 'unexplained'
}

const whyNotReplayed = (trade: Trade, { live, replayed, toleranceMs }: Compared): DivergenceReason => {
  const { rule, symbol, openedMs } = trade
  const refused = reasonsNear(replayed, symbol, openedMs, toleranceMs)
  if (refused.includes('kill_switch') || replayed.isStopped(openedMs)) return 'kill_switch'
  if (isReconfigured({ live }, openedMs)) return 'configuration'
  if (refused.some((reason) => PRICE.has(reason))) return 'price_checks'
  if (refused.length > 0) return 'limits'
  // The answer of the strategy was replayed, and did not lead to the trade.
  if (rule !== null) return 'strategy'
  return isHeld(replayed, symbol, openedMs) ? 'earlier_difference' : 'unexplained'
}

const APPROVAL: ReadonlySet<string> = new Set(['approval_required', 'approval_denied', 'expired'])

const PRICE: ReadonlySet<string> = new Set(['price_moved', 'no_price', 'venue_price'])

const reasonsNear = (
  { refusals }: TradeBook,
  symbol: string,
  atMs: number,
  toleranceMs: number,
): readonly string[] =>
  refusals
    .filter((refusal) => refusal.symbol === symbol)
    // An intent that waits for approval ends much later.
    .filter(
      ({ atMs: endMs, reasons }) =>
        Math.abs(endMs - atMs) <= toleranceMs + (reasons.some((one) => APPROVAL.has(one)) ? WAIT_MS : 0),
    )
    .flatMap(({ reasons }) => reasons)

const WAIT_MS = 3_900_000

const isReconfigured = ({ live }: Pick<Compared, 'live'>, atMs: number): boolean =>
  live.configChangesMs.some((changedMs) => changedMs <= atMs)

const isHeld = ({ trades }: TradeBook, symbol: string, atMs: number): boolean =>
  trades.some(
    (trade) =>
      trade.symbol === symbol &&
      trade.openedMs <= atMs &&
      (trade.closedMs === null || trade.closedMs >= atMs),
  )

const viewOf = (trade: Trade) => ({
  direction: trade.direction,
  opened_at: timestampAt(trade.openedMs),
  entry_price: r9(trade.entryPrice),
  quantity: r9(trade.quantity),
  closed_at: trade.closedMs === null ? null : timestampAt(trade.closedMs),
  exit_price: r9(trade.exitPrice),
  exit_reason: trade.exitReason,
  pnl_usd: r9(trade.pnl),
})
