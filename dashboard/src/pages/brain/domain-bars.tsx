import type { ExplainedConviction } from '../../api/trading.ts'
import { formatPercent } from '../../ui/format.ts'
import { Evidence, SignedBar } from './signed-bar.tsx'
import { DOMAINS } from './words.ts'

interface DomainBarsProps {
  readonly domains: ExplainedConviction['domains']
  /** What all add up to. */
  readonly value: number
}

export const DomainBars = ({ domains, value }: DomainBarsProps) => {
  const strongest = Math.max(0.001, ...domains.map(({ contribution }) => Math.abs(contribution)))
  const missing = DOMAINS.filter((name) => !domains.some(({ domain }) => domain === name))
  return (
    <div className="grid gap-2 text-[13px]">
      <ul className="grid gap-1.5">
        {domains.map(({ domain, weight, contribution }) => (
          <li key={domain} className="grid grid-cols-[5.5rem_3.5rem_1fr_4.5rem] items-center gap-2">
            <span className="truncate">{domain}</span>
            <span className="text-right text-xs text-muted" title="Weight among the domains with signals">
              {formatPercent(weight, { digits: 0 })}
            </span>
            <SignedBar value={contribution} full={strongest} />
            <span className="text-right">
              <Evidence value={contribution} />
            </span>
          </li>
        ))}
        <li className="grid grid-cols-[5.5rem_3.5rem_1fr_4.5rem] items-center gap-2 border-t border-line pt-1.5 font-semibold">
          <span>together</span>
          <span />
          <span />
          <span className="text-right">
            <Evidence value={value} />
          </span>
        </li>
      </ul>
      {missing.length === 0 ? null : (
        <p className="text-xs text-muted">
          Without usable signals: {missing.join(', ')}. The others carry their weight.
        </p>
      )}
    </div>
  )
}
