import { DAY_MS } from '../shared/time.ts'
import { shareOf, type Usd } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import type { EntryRules } from './rules.ts'

/** What an entry may still use. Amounts of all open positions together. */
export interface Account {
  readonly equity: Usd
  readonly lossAtStop: Usd
  readonly exposure: Usd
  readonly margin: Usd
  /** Since 00:00 UTC and since the peak, as parts of equity then. */
  readonly dayLoss: number
  readonly drawdown: number
}

export interface ClosedTrade {
  readonly at: string
  readonly net: Usd
  readonly netReturn: number
}

export interface Wish {
  readonly sizePct: number
  readonly leverage: number
  readonly conviction: number
}

/** What each USD of an entry comes to at the prices it would have. */
export interface PerUsd {
  readonly lossAtStop: number
  /** Slippage and fee, lost at once: limits have to hold on the equity that is left. */
  readonly cost: number
  /** At the mark. */
  readonly exposure: number
}

/** Every bound of a size in USD; the size is the least of them. */
export type SizeLimits = Readonly<
  Record<'size_pct' | 'kelly' | 'position' | 'heat' | 'exposure' | 'margin', Usd>
>

export const sizeLimits = (
  wish: Wish,
  account: Account,
  { kelly, perUsd, rules }: { readonly kelly: number; readonly perUsd: PerUsd; readonly rules: EntryRules },
): SizeLimits => {
  const { equity } = account
  const { risk, kill_switch: killSwitch } = rules
  const stake = kelly * (0.25 + (0.75 * wish.conviction) / 100)
  const heatMax =
    risk.heat_open_fraction * Math.min(risk.max_portfolio_heat_pct, killSwitch.l2_portfolio_heat_pct)
  return {
    size_pct: portion(equity, wish.sizePct),
    kelly: portion(equity, stake),
    position: portion(equity, risk.max_position_pct),
    heat: room(
      heatMax * Number(equity) - Number(account.lossAtStop),
      perUsd.lossAtStop + heatMax * perUsd.cost,
    ),
    exposure: room(
      risk.max_leverage * Number(equity) - Number(account.exposure),
      perUsd.exposure + risk.max_leverage * perUsd.cost,
    ),
    margin: room(Number(equity - account.margin), 1 / wish.leverage + perUsd.cost),
  }
}

export const leastOf = (limits: SizeLimits): Usd =>
  Object.values(limits).reduce((least, limit) => (limit < least ? limit : least))

/** A prior belief that closed trades gradually replace. */
export const kellyFraction = (
  trades: readonly ClosedTrade[],
  now: string,
  { kelly }: EntryRules['risk'],
): number => {
  const fromMs = Date.parse(now) - kelly.days * DAY_MS
  const counted = trades.filter(({ at }) => Date.parse(at) >= fromMs).slice(-kelly.trades)
  const wins = counted.filter(({ net }) => net > 0n)
  const losses = counted.filter(({ net }) => net < 0n)
  const isOneMissing = wins.length === 0 || losses.length === 0
  const ratio = isOneMissing ? kelly.b : meanReturn(wins) / meanReturn(losses)
  const count = counted.length
  const chance = (wins.length + kelly.prior * kelly.p) / (count + kelly.prior)
  const payoff = (count * ratio + kelly.prior * kelly.b) / (count + kelly.prior)
  return kelly.fraction * Math.max(0, (payoff * chance - (1 - chance)) / payoff)
}

/** Roundings of notional and fee together are smaller. */
const ROUNDING = 20

const room = (free: number, perUsd: number): Usd => {
  const usd = Math.floor(free / perUsd) - ROUNDING
  return usd > 0 ? BigInt(usd) : 0n
}

const portion = (equity: Usd, share: number): Usd => (equity <= 0n ? 0n : shareOf(equity, r9(share)))

const meanReturn = (trades: readonly ClosedTrade[]): number =>
  trades.reduce((sum, { netReturn }) => sum + Math.abs(netReturn), 0) / trades.length
