import { formatNumber, formatPercent, formatWords } from '../../ui/format.ts'

const NAMES: Readonly<Record<string, string>> = {
  btc_rsi: 'RSI',
  fear_greed: 'fear and greed',
  basis_annualized: 'basis, a year',
  funding_annualized: 'funding, a year',
}

const isPercent = (name: string): boolean => name.endsWith('_annualized')

/** The numbers by which the regime is judged now. */
export const EvidenceFacts = ({
  evidence,
}: {
  readonly evidence: Readonly<Record<string, number | null>>
}) => {
  const entries = Object.entries(evidence)
  if (entries.length === 0) return <p className="text-xs text-muted">No evidence about the regime yet.</p>
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-1.5 text-[13px] sm:grid-cols-3 xl:grid-cols-4">
      {entries.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="truncate text-xs text-muted">{NAMES[name] ?? formatWords(name)}</dt>
          <dd className="font-medium">
            {value === null ? '–' : isPercent(name) ? formatPercent(value / 100) : formatNumber(value, 1)}
          </dd>
        </div>
      ))}
    </dl>
  )
}
