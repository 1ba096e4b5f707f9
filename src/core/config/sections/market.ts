import { z } from 'zod'
import { choice, group, number, plainText, share, text, whole } from './kinds.ts'

const sourceName = () =>
  plainText(1, 256).regex(/^[^|\p{Cc}]+$/u, { error: 'must not contain | or control characters' })

const percentPerYear = (fallback: number, description: string) =>
  number(fallback, { min: -1000, max: 1000 }, description)

const phase = (
  description: string,
  [drift, volatility, dwellDays]: readonly [number, number, number],
  [funding, basis, fearGreed]: readonly [number, number, number],
) =>
  group(description, {
    drift: number(drift, { min: -100, max: 100 }, 'return per year'),
    volatility: number(volatility, { min: 0, max: 100 }, 'standard deviation per year'),
    dwell_days: number(dwellDays, { above: 0, max: 3650 }, 'mean length'),
    funding: percentPerYear(funding, 'funding in % per year it moves to'),
    basis: percentPerYear(basis, 'basis in % per year it moves to'),
    fear_greed: number(fearGreed, { min: 0, max: 100 }, 'fear and greed index it moves to'),
  })

const startPrice = number(100, { above: 0, max: 1_000_000_000 }, 'price at the first start')
const tickSize = number(0.001, { above: 0, max: 1_000_000 }, 'prices are rounded to this')
const volumeUsd = number(1_000_000_000, { above: 0, max: 1e15 }, 'traded per day in USD')
const beta = number(1.2, { min: -100, max: 100 }, 'how strongly it follows the market')
const assetShape = { start_price: startPrice, tick_size: tickSize, volume_usd: volumeUsd, beta }

const asset = (
  start_price: number,
  tick_size: number,
  volume_usd: number,
  assetBeta: number,
): z.infer<z.ZodObject<typeof assetShape>> => ({ start_price, tick_size, volume_usd, beta: assetBeta })

const simulation = group('The simulated market', {
  chop: phase('Sideways; the market starts here', [0, 0.35, 5], [8, 4, 48]),
  bull: phase('Rising', [0.8, 0.5, 10], [14, 5.5, 65]),
  bear: phase('Falling', [-0.7, 0.6, 7], [2, 2.5, 32]),
  crisis: phase('Crash', [-4, 1.5, 0.5], [-20, 0.5, 8]),
  correlation: share(0.85, 'part of each move that all symbols share'),
  market_swing: number(0.02, { min: 0, max: 1 }, 'daily size of the common swing that reverts in a day'),
  symbol_swing: number(0.01, { min: 0, max: 1 }, "daily size of each symbol's own swing"),
  jump_size: number(0.03, { min: 0, max: 1 }, 'standard deviation of a jump'),
  jumps_per_day: number(0.02, { min: 0, max: 1000 }, 'jumps per day'),
  crisis_jumps_per_day: number(0.5, { min: 0, max: 1000 }, 'jumps per day in a crash'),
  step_return_max: number(0.2, { above: 0, max: 0.9 }, 'no step moves a price further than this'),
  walk_volatility: number(0.6, { min: 0, max: 100 }, 'standard deviation per year of profile walk'),
  other_assets: group('Symbols that are not listed below', assetShape),
  assets: z
    .record(
      plainText(1, 32).regex(/^[A-Z0-9]+$/, { error: 'must be a symbol in capital letters' }),
      z.strictObject(assetShape),
    )
    .default({
      BTC: asset(60_000, 0.01, 20_000_000_000, 1),
      ETH: asset(3000, 0.01, 10_000_000_000, 1.1),
      SOL: asset(150, 0.001, 3_000_000_000, 1.3),
      SUI: asset(2, 0.0001, 800_000_000, 1.5),
      HYPE: asset(30, 0.001, 500_000_000, 1.4),
    })
    .describe('start price, price step, USD per day and beta of each symbol'),
})

export const market = group('Prices', {
  feed: choice('none', ['none', 'simulated', 'file', 'ccxt'], 'none, simulated, file or ccxt'),
  seed: whole(1, 0, Number.MAX_SAFE_INTEGER, 'the simulated market with this number'),
  tick_seconds: whole(5, 1, 3600, 'one simulated step'),
  bar_seconds: whole(60, 1, 86_400, 'length of a stored bar'),
  max_mark_age_seconds: whole(180, 1, 86_400, 'an older price is no price'),
  max_bar_move_pct: number(0.3, { above: 0, max: 100 }, 'a larger jump waits for a second bar'),
  trusted_price_sources: z
    .array(sourceName())
    .max(100)
    .default([])
    .describe('producers whose price signals count beside a feed'),
  profile: choice(
    'default',
    ['default', 'walk'],
    'simulated market: default, or walk, which nobody can predict',
  ),
  warmup_hours: whole(72, 0, 8760, 'past on the first start of a simulated market or an exchange'),
  speed: number(1, { above: 0, max: 1_000_000 }, 'how much faster than time a file is replayed'),
  file: text('', 4096, 'CSV or JSONL of the file feed'),
  exchange: plainText(0, 64)
    .regex(/^[a-z0-9_]*$/, { error: 'must be an exchange id in lower case' })
    .default('')
    .describe('exchange id of the ccxt feed'),
  sim: simulation,
})

export const technicalAnalysis = group('Indicators', {
  bar_seconds: whole(900, 1, 86_400, 'length of an analysis bar'),
  variance_decay: number(0.97, { above: 0, below: 1 }, 'memory of the volatility estimate'),
})
