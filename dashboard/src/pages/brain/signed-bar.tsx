import { cx } from '../../ui/cx.ts'

/** Always with three decimals, so that columns line up. */
const formatEvidence = (value: number): string => {
  const text = Math.abs(value).toFixed(3)
  if (text === '0.000') return text
  return `${value > 0 ? '+' : '−'}${text}`
}

const toneOf = (value: number): string => {
  if (Math.abs(value) < 0.0005) return 'text-muted'
  return value > 0 ? 'text-good' : 'text-bad'
}

/** Evidence in numbers: + speaks for rising prices, − for falling ones. */
export const Evidence = ({ value }: { readonly value: number }) => (
  <span className={cx('whitespace-nowrap', toneOf(value))}>{formatEvidence(value)}</span>
)

interface SignedBarProps {
  readonly value: number
  /** What fills one half. */
  readonly full: number
}

/** From the middle to the right for rising, to the left for falling. The number beside it says it. */
export const SignedBar = ({ value, full }: SignedBarProps) => {
  const share = full > 0 ? Math.min(1, Math.abs(value) / full) : 0
  return (
    <span aria-hidden className="relative block h-1.5 w-full rounded-full bg-raised">
      <span className="absolute -inset-y-0.5 left-1/2 w-px bg-muted/60" />
      <span
        className={cx('absolute inset-y-0 rounded-full', value >= 0 ? 'bg-good' : 'bg-bad')}
        style={
          value >= 0 ? { left: '50%', width: `${share * 50}%` } : { right: '50%', width: `${share * 50}%` }
        }
      />
    </span>
  )
}
