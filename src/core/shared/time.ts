/** The UTC day of a timestamp in the wire's form. */
export const dayOf = (ts: string): string => ts.slice(0, 10)

export const DAY_MS = 86_400_000

/** UTC days since 1970. */
export const dayNumber = (ts: string): number => Math.floor(Date.parse(ts) / DAY_MS)
