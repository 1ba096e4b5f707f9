/** Number formats for all pages: grouped, with a unit, and with a real minus sign. */
const MINUS = '−'

/** Replaces the hyphen by a minus sign. A number that reads as zero gets no sign. */
const signed = (text: string): string => text.replace('-', /[1-9∞]/.test(text) ? MINUS : '')

const grouped = (fractionMin: number, fractionMax = fractionMin): Intl.NumberFormat =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: fractionMin, maximumFractionDigits: fractionMax })

const CENTS = grouped(2)
const WHOLE = grouped(0)
const PRICE_4 = grouped(4)
const PRICE_6 = grouped(6)
const PRICE_8 = grouped(8)
const SIGNIFICANT_4 = new Intl.NumberFormat('en-US', {
  minimumSignificantDigits: 4,
  maximumSignificantDigits: 4,
})
const SIGNIFICANT_UP_TO_4 = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 })
const UP_TO_8 = new Intl.NumberFormat('en-US', { maximumFractionDigits: 8 })
const SIGNIFICANT_8 = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 8 })

export const formatUsd = (usd: number, { plus = false }: { readonly plus?: boolean } = {}): string => {
  const text = CENTS.format(Math.abs(usd))
  const isZero = text === '0.00'
  const sign = usd < 0 && !isZero ? MINUS : plus && !isZero ? '+' : ''
  return `${sign}$${text}`
}

/**
 * A price with a number of decimals that depends on its size only, so that prices below each other are easy to compare.
 * A tiny price keeps four digits, and never reads as zero.
 */
export const formatPrice = (price: number): string => {
  const size = Math.abs(price)
  if (size >= 1000 || size === 0) return signed(CENTS.format(price))
  if (size >= 1) return signed(PRICE_4.format(price))
  if (size < 0.000_001) return signed(SIGNIFICANT_4.format(price))
  return signed((size >= 0.01 ? PRICE_6 : PRICE_8).format(price))
}

/** Formats a share: 0.031 reads 3.1 %. Every `_pct` member of the API is a share. */
export const formatPercent = (share: number, { digits = 2, plus = false }: PercentStyle = {}): string => {
  const text = signed(grouped(digits).format(share * 100))
  return `${plus && share > 0 && /[1-9]/.test(text) ? '+' : ''}${text} %`
}

/** Formats a number that is in percent already: 3.1 reads 3.1 %. Only `_annualized` members are. */
export const formatPercentPoints = (points: number, style: PercentStyle = {}): string =>
  formatPercent(points / 100, style)

interface PercentStyle {
  readonly digits?: number
  readonly plus?: boolean
}

export const formatQuantity = (quantity: number): string =>
  signed((Math.abs(quantity) < 1 ? SIGNIFICANT_8 : UP_TO_8).format(quantity))

export const formatCount = (count: number): string => signed(WHOLE.format(count))

/** Formats with a fixed number of decimals, so that columns line up. */
export const formatFixed = (
  value: number,
  digits: number,
  { plus = false }: { readonly plus?: boolean } = {},
): string => {
  const text = grouped(digits).format(Math.abs(value))
  if (!/[1-9]/.test(text)) return text
  return `${value < 0 ? MINUS : plus ? '+' : ''}${text}`
}

const MICROS = grouped(2, 6)

/** Formats to a millionth of a dollar, for amounts that cents would round away. */
export const formatMicroUsd = (usd: number): string => {
  const text = MICROS.format(Math.abs(usd))
  return `${usd < 0 && /[1-9]/.test(text) ? MINUS : ''}$${text}`
}

export const formatNumber = (value: number, digits = 2): string => signed(grouped(0, digits).format(value))

export const formatBytes = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${grouped(value < 10 ? 1 : 0).format(value)} ${units[unit]}`
}

/** Formats in the two largest units: 90,000 ms reads 1 min 30 s. */
export const formatDuration = (ms: number): string => {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  if (seconds < 86_400) return pair(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min')
  return pair(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h')
}

const pair = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`

/** Formats a member of a payload: `max_drawdown_pct` of −0.014 reads "max drawdown −1.40 %". */
export const formatMember = (name: string, value: number): string => {
  if (SHARES.test(name)) return `${formatWords(name.replace(SHARES, ''))} ${formatPercent(value)}`
  if (name.endsWith('_annualized')) return `${formatWords(name)} ${formatPercentPoints(value)}`
  return formatPlainMember(name, value)
}

const SHARES = /_(pct|percentage)$/
const PRICES = /(^|_)(price|open|high|low|close)$/
const QUANTITIES = /(^|_)(quantity|size)$/

/** Like `formatMember`, but without a unit, if it is unknown whether `_pct` is a share. */
export const formatPlainMember = (name: string, value: number): string => {
  const text = PRICES.test(name)
    ? formatPrice(value)
    : QUANTITIES.test(name)
      ? formatQuantity(value)
      : Math.abs(value) < 1
        ? signed(SIGNIFICANT_UP_TO_4.format(value))
        : formatNumber(value)
  return `${formatWords(name)} ${text}`
}

/** Formats the reason why the kill switch was raised: `daily_loss_pct=0.0312` reads "daily loss 3.12 %". */
export const formatReason = (reason: string): string =>
  reason.replaceAll(
    /([a-z][a-z0-9_]*)=(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)/g,
    (_match, name: string, value: string) => formatMember(name, Number(value)),
  )

/** Converts a name to words: `order_filled` reads "order filled". */
export const formatWords = (name: string): string => name.replaceAll('_', ' ')

/** The first and last characters of an id. The title shows the whole id. */
export const shortId = (id: string): string => (id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`)

/** A member of a payload as text. Other values than text and numbers are shown in the details only. */
export const textOf = (value: unknown, otherwise = ''): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise

/** The texts of a list in a payload. */
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
