/** The venue answered with something that is not what was asked for. */
export class UnreadableAnswerError extends Error {
  override readonly name = 'UnreadableAnswerError'
}

/** The library tells numbers as the venue's own digits (`number = String`): here they become numbers, once. */
export const numberOf = (value: unknown): number | null => {
  if (typeof value === 'string' && value.trim() === '') return null
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

export const positiveOf = (value: unknown): number | null => {
  const number = numberOf(value)
  return number !== null && number > 0 ? number : null
}

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

export const cents = (usd: number): number => Math.round(usd * 100) / 100

/** For operators: one line, and not the whole page that a broken proxy sent. */
export const messageOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error)
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MESSAGE_LENGTH_MAX ? `${line.slice(0, MESSAGE_LENGTH_MAX)}…` : line
}

const MESSAGE_LENGTH_MAX = 300
