import type { ReactNode } from 'react'
import {
  formatCount,
  formatDuration,
  formatFixed,
  formatPercent,
  formatPrice,
  formatQuantity,
  formatUsd,
} from './format.ts'

/** Coloured by the sign of the shown text: a text that reads as zero is neither good nor bad. */
const Toned = ({ text }: { readonly text: string }) => (
  <span className={text.startsWith('+') ? 'text-good' : text.startsWith('−') ? 'text-bad' : 'text-muted'}>
    {text}
  </span>
)

/** A dash for unknown values, never a zero. */
export const Unknown = ({ why = 'not known' }: { readonly why?: string }) => (
  <span className="text-muted" title={why}>
    –
  </span>
)

interface MaybeNumber {
  readonly value: number | null | undefined
}

interface FigureProps extends MaybeNumber {
  readonly children: (value: number) => ReactNode
}

/** A figure, or a dash for null and for results that are not finite. */
const Figure = ({ value, children }: FigureProps) =>
  Number.isFinite(value) ? (
    <span className="whitespace-nowrap">{children(value as number)}</span>
  ) : (
    <Unknown />
  )

export const Usd = ({ value }: MaybeNumber) => <Figure value={value}>{(usd) => formatUsd(usd)}</Figure>

/** Profit and loss: signed and coloured. */
export const Pnl = ({ value }: MaybeNumber) => (
  <Figure value={value}>{(usd) => <Toned text={formatUsd(usd, { plus: true })} />}</Figure>
)

interface PercentProps extends MaybeNumber {
  readonly digits?: number
  readonly toned?: boolean
}

export const Percent = ({ value, digits = 2, toned = false }: PercentProps) => (
  <Figure value={value}>
    {(share) =>
      toned ? <Toned text={formatPercent(share, { digits, plus: true })} /> : formatPercent(share, { digits })
    }
  </Figure>
)

/** A gain or a loss as a share. */
export const Gain = ({ value }: MaybeNumber) => <Percent value={value} toned />

/** A share without decimals. */
export const Share = ({ value }: MaybeNumber) => <Percent value={value} digits={0} />

export const Count = ({ value }: MaybeNumber) => <Figure value={value}>{formatCount}</Figure>

export const Duration = ({ value }: MaybeNumber) => <Figure value={value}>{formatDuration}</Figure>

/** A number with two decimals. */
export const Fixed = ({ value }: MaybeNumber) => (
  <Figure value={value}>{(number) => formatFixed(number, 2)}</Figure>
)

/** A number with one decimal. */
export const Score = ({ value }: MaybeNumber) => (
  <Figure value={value}>{(score) => formatFixed(score, 1)}</Figure>
)

/** A price in dollars: every symbol is quoted in them. */
export const Price = ({ value }: MaybeNumber) => (
  <Figure value={value}>{(price) => `$${formatPrice(price)}`}</Figure>
)

export const Quantity = ({ value, unit }: MaybeNumber & { readonly unit: string }) => (
  <>
    <Figure value={value}>{formatQuantity}</Figure> <span className="text-muted">{unit}</span>
  </>
)

/** A number with its name, in the size of its importance. */
export const Stat = ({ label, children, note }: { label: string; children: ReactNode; note?: ReactNode }) => (
  <div className="min-w-0">
    <dt className="truncate text-xs text-muted">{label}</dt>
    <dd className="mt-0.5 text-lg leading-tight font-semibold wrap-anywhere">{children}</dd>
    {note === undefined ? null : <dd className="mt-0.5 text-xs wrap-anywhere text-muted">{note}</dd>}
  </div>
)
