/** From here on a double is coarser than 1e-9, and the multiplication below could overflow. */
const COARSE = 2 ** 23

const BILLION = 1e9

/** How ratios and scores are stored: nine decimals, half away from zero, never -0. */
export const r9 = (value: number): number => {
  const size = Math.abs(value)
  if (size >= COARSE) return value
  const rounded = Math.round(size * BILLION)
  return rounded === 0 ? 0 : (Math.sign(value) * rounded) / BILLION
}

/** Into [-1, 1]. */
export const clamp = (value: number): number => Math.max(-1, Math.min(1, value))

/** Into [0, 1]. */
export const clamp01 = (value: number): number => Math.max(0, Math.min(1, value))
