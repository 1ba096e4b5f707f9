import type { ReactNode } from 'react'
import { cx } from './cx.ts'
import {
  formatCount,
  formatDuration,
  formatFixed,
  formatNumber,
  formatPercent,
  formatPrice,
  formatQuantity,
  formatUsd,
} from './format.ts'

const toneOf = (value: number): string => {
  if (value > 0) return 'text-good'
  return value < 0 ? 'text-bad' : 'text-muted'
}

/** A dash for unknown values: never a zero. */
export const Unknown = ({ why = 'not known' }: { readonly why?: string }) => (
  <span className="text-muted" title={why}>
    –
  </span>
)

interface MaybeNumber {
  readonly value: number | null | undefined
}

interface FigureProps extends MaybeNumber {
  readonly tone?: (value: number) => string
  readonly children: (value: number) => ReactNode
}

const Figure = ({ value, tone, children }: FigureProps) =>
  value === null || value === undefined ? (
    <Unknown />
  ) : (
    <span className={cx('whitespace-nowrap', tone?.(value))}>{children(value)}</span>
  )

export const Usd = ({ value }: MaybeNumber) => <Figure value={value}>{(usd) => formatUsd(usd)}</Figure>

/** Profit and loss: signed and coloured. */
export const Pnl = ({ value }: MaybeNumber) => (
  <Figure value={value} tone={(usd) => toneOf(Math.round(usd * 100))}>
    {(usd) => formatUsd(usd, { plus: true })}
  </Figure>
)

interface PercentProps extends MaybeNumber {
  readonly digits?: number
  readonly toned?: boolean
}

export const Percent = ({ value, digits = 2, toned = false }: PercentProps) => (
  <Figure value={value} {...(toned ? { tone: toneOf } : {})}>
    {(share) => formatPercent(share, { digits, plus: toned })}
  </Figure>
)

/** Without decimals. */
export const Share = ({ value }: MaybeNumber) => <Percent value={value} digits={0} />

export const Count = ({ value }: MaybeNumber) => <Figure value={value}>{formatCount}</Figure>

export const Duration = ({ value }: MaybeNumber) => <Figure value={value}>{formatDuration}</Figure>

/** With two decimals, always. */
export const Fixed = ({ value }: MaybeNumber) => (
  <Figure value={value}>{(number) => formatFixed(number, 2)}</Figure>
)

/** With one decimal. */
export const Score = ({ value }: MaybeNumber) => (
  <Figure value={value}>{(score) => formatNumber(score, 1)}</Figure>
)

/** In dollars: every symbol is quoted in them. */
export const Price = ({ value }: MaybeNumber) => (
  <Figure value={value}>{(price) => `$${formatPrice(price)}`}</Figure>
)

export const Quantity = ({ value, unit }: MaybeNumber & { readonly unit: string }) => (
  <Figure value={value}>
    {(quantity) => (
      <>
        {formatQuantity(quantity)} <span className="text-muted">{unit}</span>
      </>
    )}
  </Figure>
)

/** A number with its name, as large as it matters. */
export const Stat = ({ label, children, note }: { label: string; children: ReactNode; note?: ReactNode }) => (
  <div className="min-w-0">
    <dt className="truncate text-xs text-muted">{label}</dt>
    <dd className="mt-0.5 text-lg leading-tight font-semibold wrap-anywhere">{children}</dd>
    {note === undefined ? null : <dd className="mt-0.5 text-xs wrap-anywhere text-muted">{note}</dd>}
  </div>
)
