import type { ReactNode } from 'react'
import { cx } from './cx.ts'
import { formatPercent, formatPrice, formatQuantity, formatUsd } from './format.ts'

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

export const Usd = ({ value }: MaybeNumber) =>
  value === null || value === undefined ? (
    <Unknown />
  ) : (
    <span className="whitespace-nowrap">{formatUsd(value)}</span>
  )

/** Profit and loss: signed and coloured. */
export const Pnl = ({ value }: MaybeNumber) =>
  value === null || value === undefined ? (
    <Unknown />
  ) : (
    <span className={cx('whitespace-nowrap', toneOf(Math.round(value * 100)))}>
      {formatUsd(value, { plus: true })}
    </span>
  )

export const Percent = ({
  value,
  digits = 2,
  toned = false,
}: MaybeNumber & { digits?: number; toned?: boolean }) =>
  value === null || value === undefined ? (
    <Unknown />
  ) : (
    <span className={cx('whitespace-nowrap', toned && toneOf(value))}>
      {formatPercent(value, { digits, plus: toned })}
    </span>
  )

/** In dollars: every symbol is quoted in them. */
export const Price = ({ value }: MaybeNumber) =>
  value === null || value === undefined ? (
    <Unknown />
  ) : (
    <span className="whitespace-nowrap">${formatPrice(value)}</span>
  )

export const Quantity = ({ value, unit }: MaybeNumber & { readonly unit: string }) =>
  value === null || value === undefined ? (
    <Unknown />
  ) : (
    <span className="whitespace-nowrap">
      {formatQuantity(value)} <span className="text-muted">{unit}</span>
    </span>
  )

/** A number with its name, as large as it matters. */
export const Stat = ({ label, children, note }: { label: string; children: ReactNode; note?: ReactNode }) => (
  <div className="min-w-0">
    <dt className="truncate text-xs text-muted">{label}</dt>
    <dd className="mt-0.5 text-lg font-semibold leading-tight">{children}</dd>
    {note === undefined ? null : <dd className="mt-0.5 text-xs text-muted">{note}</dd>}
  </div>
)
