const MICROS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

export const formatKarma = (usd: number): string => `$${MICROS.format(usd)}`

/** In millionths of a dollar: cents would round most of it away. */
export const Karma = ({ usd }: { readonly usd: number }) => (
  <span className="whitespace-nowrap">{formatKarma(usd)}</span>
)
