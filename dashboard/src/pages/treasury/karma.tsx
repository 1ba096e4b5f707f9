import type { KarmaReceipt } from '../../api/types.ts'
import type { Tone } from '../../ui/badge.tsx'
import { formatMicroUsd } from '../../ui/format.ts'

export const RECEIPT_TONES: Readonly<Record<KarmaReceipt['status'], Tone>> = {
  pending: 'neutral',
  submitted: 'accent',
  confirmed: 'good',
  failed: 'bad',
}

/** An amount of karma money, to the millionth of a dollar. */
export const Karma = ({ value }: { readonly value: number | null }) => (
  <span className="whitespace-nowrap">{formatMicroUsd(value ?? 0)}</span>
)
