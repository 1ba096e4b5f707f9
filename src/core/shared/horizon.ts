/** After how long a call may be judged. */
export const HORIZONS = ['1h', '4h', '24h', '3d', '7d'] as const

export type Horizon = (typeof HORIZONS)[number]

const HOUR_MS = 3_600_000

export const HORIZON_MS: Readonly<Record<Horizon, number>> = {
  '1h': HOUR_MS,
  '4h': 4 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '3d': 72 * HOUR_MS,
  '7d': 168 * HOUR_MS,
}

export const horizonIn = (value: unknown): Horizon | null =>
  HORIZONS.find((horizon) => horizon === value) ?? null
