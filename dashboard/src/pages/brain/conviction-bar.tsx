import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Direction } from '../../api/trading.ts'
import { cx } from '../../ui/cx.ts'
import { formatNumber } from '../../ui/format.ts'

/** No evidence either way. */
const NOTHING = 50
const FULL = 100

const DEFAULT_TIERS: readonly number[] = []

/** From which convictions on something is traded, as configured now. */
const useTiers = (): readonly number[] => {
  const { data } = useQuery(queries.config())
  const brain = data?.['brain']
  const tiers = typeof brain === 'object' && brain !== null && 'tiers' in brain ? brain.tiers : null
  return Array.isArray(tiers) ? tiers.filter((tier) => typeof tier === 'number') : DEFAULT_TIERS
}

const placeOf = (conviction: number): string =>
  `${Math.min(100, Math.max(0, ((conviction - NOTHING) / (FULL - NOTHING)) * 100))}%`

const FILLS: Readonly<Record<Direction, string>> = { long: 'bg-good', short: 'bg-bad', neutral: 'bg-muted' }

interface ConvictionBarProps {
  readonly value: number
  readonly direction: Direction
}

/** How strong a conviction is, from 50 (nothing) to 100, with the steps from which a trade follows. */
export const ConvictionBar = ({ value, direction }: ConvictionBarProps) => {
  const tiers = useTiers()
  const first = tiers[0]
  return (
    <span className="flex items-center gap-2">
      <strong
        className={cx(
          'w-10 shrink-0 text-right font-semibold',
          first !== undefined && value < first && 'text-muted',
        )}
      >
        {value.toFixed(1)}
      </strong>
      <span
        className="relative block h-2 w-full min-w-16 md:min-w-28 rounded-full bg-raised"
        title={`${formatNumber(value, 2)} of 100; trades from ${tiers.join(', ')}`}
      >
        <span
          className={cx('absolute inset-y-0 left-0 rounded-full', FILLS[direction])}
          style={{ width: placeOf(value) }}
        />
        {tiers.map((tier) => (
          <span
            key={tier}
            aria-hidden
            className="absolute -inset-y-0.5 w-px bg-text/60"
            style={{ left: placeOf(tier) }}
          />
        ))}
      </span>
    </span>
  )
}
