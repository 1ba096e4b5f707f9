import { group, number, share, whole } from './kinds.ts'

const kelly = group('Kelly sizing: a prior belief that closed trades gradually replace', {
  p: share(0.55, 'believed chance of a win before any trade'),
  b: number(1.2, { above: 0, max: 100 }, 'believed ratio of mean win to mean loss'),
  prior: number(20, { min: 1, max: 10_000 }, 'weight of that belief, in trades'),
  trades: whole(50, 1, 10_000, 'newest closes that count'),
  days: whole(90, 1, 3650, 'older closes do not count'),
  fraction: share(0.5, 'share of the full Kelly stake'),
})

export const risk = group('Limits on entries; they end with their condition', {
  max_leverage: number(2, { above: 0, max: 100 }, 'gross exposure over equity, at most'),
  max_position_pct: share(0.1, 'notional of one position over equity, at most'),
  max_portfolio_heat_pct: share(0.06, 'summed loss at the stops over equity, at most'),
  daily_loss_limit_pct: share(0.03, 'no entries after this loss since 00:00 UTC (0 = off)'),
  max_drawdown_pct: share(0.3, 'no entries after this fall from the equity peak'),
  heat_open_fraction: share(0.9, 'part of the heat limit that entries may use'),
  kelly,
})
