import type { PayloadOf } from '../core/events/catalogue.ts'
import { r9 } from '../core/shared/numbers.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import type { StrategyProposal } from '../core/strategies/strategy.ts'

/** Entries that a limit made smaller than requested, with the names of the report. */
export interface Reduction {
  /** The limit with the smallest size, such as `heat`. */
  readonly limit: string
  readonly count: number
  /** The entry that lost the largest amount. */
  readonly largest: {
    readonly symbol: string
    readonly at: string
    readonly asked_usd: number
    readonly granted_usd: number
  }
}

/** The position without a stop that raises the kill switch first, with the names of the report. */
export interface Unprotected {
  readonly symbol: string
  readonly at: string
  readonly equity_share: number
  /** Loss of equity at which `kill_switch.l2_portfolio_heat_pct` is reached. */
  readonly loss_share: number
}

/** Limits of the kill switch, as shares of equity. */
export interface KillLimits {
  readonly heat: number
  readonly drawdown: number
}

/** Members of a request that an open position cannot take over: it keeps those of its entry. */
export type IgnoredRequests = Readonly<Record<'size' | 'stop' | 'target', number>>

/** Collects requests that were not carried out, or only in part. */
export class Notices {
  readonly #reductions = new Map<string, Reduction>()
  readonly #entered = new Map<string, StrategyProposal>()
  #unprotected: Unprotected | null = null
  readonly #ignored = { size: 0, stop: 0, target: 0 }

  /** The order of an entry: its size is the least of the limits. */
  ordered({ symbol, limits, sizing }: PayloadOf<'execution.order_submitted.v1'>, at: string): void {
    const { size_pct: asked } = limits
    const [limit] = sizing?.bound_by ?? []
    if (asked === undefined || limit === undefined || sizing?.bound_by.includes('size_pct')) return
    const granted = limits[limit] ?? 0
    const before = this.#reductions.get(limit)
    const entry = { symbol, at, asked_usd: asked, granted_usd: granted }
    const isLarger =
      before === undefined || asked - granted > before.largest.asked_usd - before.largest.granted_usd
    this.#reductions.set(limit, {
      limit,
      count: (before?.count ?? 0) + 1,
      largest: isLarger ? entry : before.largest,
    })
  }

  /**
   * A position that was opened. Without a stop all of its entry counts as heat. That amount stays while equity falls, so
   * near full size a small loss brings it to the limit, before the drawdown reaches its own.
   */
  opened(
    { asset, stop_loss: stop }: PayloadOf<'execution.position_opened.v1'>,
    {
      at,
      equityShare,
      limits,
    }: { readonly at: string; readonly equityShare: number; readonly limits: KillLimits },
  ): void {
    if (stop !== null) return
    const loss = r9(Math.max(0, 1 - equityShare / limits.heat))
    if (loss >= limits.drawdown || loss >= (this.#unprotected?.loss_share ?? Infinity)) return
    this.#unprotected = { symbol: asset, at, equity_share: equityShare, loss_share: loss }
  }

  /** A proposal that became an intent. */
  entered(proposal: StrategyProposal): void {
    this.#entered.set(canonicalSymbol(proposal.symbol), proposal)
  }

  /** A proposal for the side of a position that is open already. */
  ignored(proposal: StrategyProposal): void {
    const entered = this.#entered.get(canonicalSymbol(proposal.symbol))
    if (entered === undefined || entered === proposal || entered.side !== proposal.side) return
    if (entered.sizePct !== proposal.sizePct) this.#ignored.size += 1
    if (
      entered.stopPrice !== proposal.stopPrice ||
      entered.trailingPct !== proposal.trailingPct ||
      // The share of a stop at a price is only its description.
      (proposal.stopPrice === undefined && entered.stopPct !== proposal.stopPct)
    )
      this.#ignored.stop += 1
    if (
      entered.targetPrice !== proposal.targetPrice ||
      (proposal.targetPrice === undefined && entered.targetPct !== proposal.targetPct)
    )
      this.#ignored.target += 1
  }

  /** The limit that reduced the most entries first. */
  reductions(): readonly Reduction[] {
    return [...this.#reductions.values()].toSorted((one, other) => other.count - one.count)
  }

  unprotected(): Unprotected | null {
    return this.#unprotected
  }

  ignoredRequests(): IgnoredRequests {
    return { ...this.#ignored }
  }
}

/** Sentences of the report, one for each limit that reduced an entry. */
export const reductionTexts = (reductions: readonly Reduction[]): readonly string[] =>
  reductions.map(({ limit, count, largest: { symbol, at, asked_usd, granted_usd } }) => {
    const most = `from ${wholeUsd(asked_usd)} to ${wholeUsd(granted_usd)} USD (${symbol}, ${at.slice(0, 16)})`
    return count === 1 ? `one entry by ${limit}, ${most}` : `${count} entries by ${limit}, the most ${most}`
  })

/** Null where every position had a stop, or was small. */
export const unprotectedText = (unprotected: Unprotected | null): string | null =>
  unprotected === null
    ? null
    : `${unprotected.symbol} was entered without a stop at ${percentOf(unprotected.equity_share)} of equity ` +
      `(${unprotected.at.slice(0, 16)}): all of it counts as heat, so a loss of ${percentOf(unprotected.loss_share)} of equity ` +
      'raises the kill switch (kill_switch.l2_portfolio_heat_pct)'

/** Null where nothing was ignored. */
export const ignoredText = (ignored: IgnoredRequests): string | null => {
  const parts = Object.entries(ignored).filter(([, count]) => count > 0)
  if (parts.length === 0) return null
  const counts = parts.map(([name, count]) => `another ${name} ${count === 1 ? 'once' : `${count} times`}`)
  return `${counts.join(', ')}: an open position keeps the values of its entry`
}

const wholeUsd = (usd: number): string => usd.toLocaleString('en-US', { maximumFractionDigits: 0 })

type Triggers = NonNullable<PayloadOf<'system.kill_switch.v1'>['triggers']>

/** Cause of the raised kill switch, for people; null where an operator raised it. */
export const causeText = (triggers: Triggers): string | null =>
  triggers.length === 0 ? null : triggers.map(triggerText).join(', ')

const triggerText = ({ name, value, threshold }: Triggers[number]): string => {
  const meaning = TRIGGERS[name]
  if (meaning === undefined) return `${name} ${value} (limit ${threshold})`
  if (name.endsWith('_pct') || name === 'drawdown_limit')
    return `${meaning} ${percentOf(value)} (limit ${percentOf(threshold)})`
  return `${value} ${value === 1 ? meaning.replace('losses', 'loss') : meaning} (limit ${threshold})`
}

const percentOf = (share: number): string => `${Number((share * 100).toFixed(1))} %`

const TRIGGERS: Readonly<Record<string, string>> = {
  crisis_conditions: 'conditions of a crisis',
  daily_loss_pct: 'loss of the day',
  drawdown_limit: 'drawdown',
  fill_divergence_pct: 'difference between fill and price',
  loss_streak: 'losses in a row',
  max_drawdown_pct: 'drawdown',
  portfolio_heat_pct: 'possible loss at all stops',
  stale_cycles: 'cycles without new signals',
}

/** The stops of a run, as its report has them. */
interface Stops {
  readonly level: number
  readonly stops: number
  readonly first_stop_at: string | null
  readonly first_stop_cause: string | null
  readonly trades_before_stop: number | null
  readonly lowered: number
}

/** First line of a report in which the kill switch stopped entries; null in all others. */
export const stopNotice = (kill: Stops, resetsDaily: boolean): string | null => {
  if (kill.stops === 0) return null
  const { trades_before_stop: trades, first_stop_at: at, first_stop_cause: cause } = kill
  const first = `on ${dayText(at ?? '')} after ${trades === 1 ? '1 trade' : `${trades} trades`}: ${cause ?? 'by hand'}`
  if (!resetsDaily) return `stopped by the kill switch ${first}; nothing was entered from then on`
  const times = kill.stops === 1 ? '' : `${kill.stops} times, first `
  const lowered =
    kill.lowered === 0
      ? 'the run ended before it was lowered'
      : `a simulated operator lowered it at the next midnight UTC, ${kill.lowered === 1 ? 'once' : `${kill.lowered} times`}`
  return `stopped by the kill switch ${times}${first}; ${lowered}`
}

const dayText = (at: string): string => {
  const [year = '', month = '', day = ''] = at.slice(0, 10).split('-')
  return `${Number(day)} ${MONTHS[Number(month) - 1] ?? month} ${year}`
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
