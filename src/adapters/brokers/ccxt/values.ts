/** A member of something that came from outside. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

export const textMemberOf = (value: unknown, name: string): string | null => {
  const member = memberOf(value, name)
  if (typeof member === 'number' || typeof member === 'bigint') return String(member)
  return typeof member === 'string' && member !== '' ? member : null
}

/** Coins that count as the dollar; earlier ones are preferred. */
export const DOLLARS: readonly string[] = ['USDT', 'USD', 'USDC', 'FDUSD']
