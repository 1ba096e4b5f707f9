import { z } from 'zod'
import { choice, group, number, plainText, text, whole } from './kinds.ts'
import { simulation } from './market-simulation.ts'

const sourceName = () =>
  plainText(1, 256).regex(/^[^|\p{Cc}]+$/u, { error: 'must not contain | or control characters' })

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
