import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { EventItem, RegimeView } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEventList } from '../../live/live.ts'
import { RegimeBadge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { Choice } from '../../ui/field.tsx'
import {
  formatDuration,
  formatNumber,
  formatPercent,
  formatPercentPoints,
  formatWords,
  textOf,
} from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time, useNow } from '../../ui/time.tsx'

const CHANGES_MAX = 200
const LISTED_MAX = 20

const SPANS = [
  ['1', '1 hour'],
  ['6', '6 hours'],
  ['24', '1 day'],
  ['168', '1 week'],
] as const

export const RegimePanel = ({ className = '' }: { readonly className?: string }) => {
  const [hours, setHours] = useUrlState('regime_hours', '6')
  const { query, events: changes } = useEventList({ type: 'brain.regime_change', limit: CHANGES_MAX })
  const periods = periodsOf(changes)
  return (
    <QueryPanel
      title="Regime"
      className={className}
      query={query}
      actions={<Choice label="Span of the timeline" value={hours} choices={SPANS} onChoose={setHours} />}
    >
      {() =>
        periods.length === 0 ? (
          <Empty title="No regime yet">
            The first cycle determines it from the data of the regime symbol.
          </Empty>
        ) : (
          <div className="grid gap-4">
            <RegimeStrip periods={periods} spanMs={Number(hours) * 3_600_000} />
            <CurrentEvidence />
            <Changes periods={periods} />
          </div>
        )
      }
    </QueryPanel>
  )
}

const CurrentEvidence = () => {
  const { data } = useQuery(queries.regime())
  if (data === undefined) return null
  return <RegimeConditions regime={data} />
}

const Changes = ({ periods }: { readonly periods: readonly RegimePeriod[] }) => (
  <ul className="grid max-h-64 overflow-y-auto" aria-label="Changes of the regime" tabIndex={0}>
    {periods.slice(0, LISTED_MAX).map(({ id, regime, previous, from, to }) => (
      <li
        key={id}
        className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line py-1.5 text-[13px] last:border-0"
      >
        <span className="flex items-center gap-1.5">
          {previous === null ? <span className="text-muted">first</span> : <RegimeBadge regime={previous} />}
          <span aria-label="to" className="text-muted">
            →
          </span>
          <RegimeBadge regime={regime} />
        </span>
        <span className="text-xs text-muted">
          <Time at={from} />
          {to === null ? ' · current' : ` · lasted ${formatDuration(Date.parse(to) - Date.parse(from))}`}
        </span>
      </li>
    ))}
  </ul>
)

const FILLS: Readonly<Record<string, string>> = {
  BULL: 'bg-good-soft text-good',
  BEAR: 'bg-bad-soft text-bad',
  CRISIS: 'bg-bad text-panel',
  TRANSITION: 'bg-raised text-muted',
}

const REFRESH_MS = 10_000
/** Smallest share of the width for a label. */
const LABEL_SHARE_MIN = 0.12

interface Part {
  readonly id: string
  readonly regime: string | null
  readonly ms: number
}

interface RegimeStripProps {
  /** Periods, newest first. */
  readonly periods: readonly RegimePeriod[]
  readonly spanMs: number
}

/** Regimes over time: the past on the left, now on the right. */
const RegimeStrip = ({ periods, spanMs }: RegimeStripProps) => {
  const nowMs = useNow((ms) => Math.floor(ms / REFRESH_MS) * REFRESH_MS) + REFRESH_MS
  const parts = partsOf(periods, nowMs - spanMs, nowMs)
  return (
    <figure className="m-0">
      <div
        className="flex h-9 overflow-hidden rounded-md border border-line"
        role="img"
        aria-label={labelOf(parts, spanMs)}
      >
        {parts.map(({ id, regime, ms }) => (
          <span
            key={id}
            title={`${regime ?? 'unknown'} for ${formatDuration(ms)}`}
            className={cx(
              'grid min-w-px place-items-center overflow-hidden border-r border-panel text-[11px] font-semibold last:border-0',
              regime === null ? 'text-muted' : (FILLS[regime] ?? 'bg-raised'),
            )}
            style={{ width: `${(ms / spanMs) * 100}%` }}
          >
            {ms / spanMs < LABEL_SHARE_MIN ? null : (regime ?? 'unknown')}
          </span>
        ))}
      </div>
      <figcaption className="mt-1 flex justify-between text-[11px] text-muted">
        <span>{formatDuration(spanMs)} ago</span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}

const partsOf = (periods: readonly RegimePeriod[], fromMs: number, nowMs: number): readonly Part[] => {
  const known = periods.toReversed().flatMap(({ id, regime, from, to }) => {
    const begin = Math.max(fromMs, Date.parse(from))
    const end = to === null ? nowMs : Date.parse(to)
    return end <= begin ? [] : [{ id, regime, ms: end - begin }]
  })
  const first = periods.at(-1)
  const unknownMs = first === undefined ? nowMs - fromMs : Date.parse(first.from) - fromMs
  return unknownMs <= 0 ? known : [{ id: 'before', regime: null, ms: unknownMs }, ...known]
}

const labelOf = (parts: readonly Part[], spanMs: number): string => {
  const byRegime = new Map<string, number>()
  for (const { regime, ms } of parts) {
    const name = regime ?? 'unknown'
    byRegime.set(name, (byRegime.get(name) ?? 0) + ms)
  }
  const shares = [...byRegime].map(([name, ms]) => `${name} ${formatPercent(ms / spanMs, { digits: 0 })}`)
  return `Regimes over ${formatDuration(spanMs)}: ${shares.join(', ')}`
}

/** A period in which one regime was in effect. */
interface RegimePeriod {
  readonly id: string
  readonly regime: string
  readonly previous: string | null
  readonly from: string
  /** Null for the current period. */
  readonly to: string | null
}

/** Periods newest first, like the changes. */
const periodsOf = (changes: readonly EventItem[]): readonly RegimePeriod[] =>
  changes.map(({ id, ts, payload }, index) => ({
    id,
    regime: textOf(payload['regime']),
    previous: typeof payload['previous'] === 'string' ? payload['previous'] : null,
    from: ts,
    to: changes[index - 1]?.ts ?? null,
  }))

/** Conditions in the order in which they are shown. */
const NAMES: Readonly<Record<string, string>> = {
  btc_rsi: 'RSI',
  fear_greed: 'fear and greed',
  basis_annualized: 'basis, a year',
  funding_annualized: 'funding, a year',
  bull_votes: 'bull votes',
  bear_votes: 'bear votes',
  crisis_votes: 'crisis votes',
}

const ORDER = Object.keys(NAMES)

const orderOf = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)

const isPercent = (name: string): boolean => name.endsWith('_annualized')

/** Conditions that the newest cycle found, with their time. */
export const RegimeConditions = ({
  regime: { conditions, conditions_at },
}: {
  readonly regime: RegimeView
}) => {
  const entries = Object.entries(conditions).toSorted(([one], [other]) => orderOf(one) - orderOf(other))
  if (entries.length === 0) return <p className="text-xs text-muted">No regime data yet.</p>
  return (
    <div className="grid gap-1.5">
      <p className="text-xs text-muted">
        Evidence of the cycle <Time at={conditions_at} as="ago" />
      </p>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-1.5 text-[13px] sm:grid-cols-3 xl:grid-cols-4">
        {entries.map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="truncate text-xs text-muted">{NAMES[name] ?? formatWords(name)}</dt>
            <dd className="font-medium">
              {value === null ? '–' : isPercent(name) ? formatPercentPoints(value) : formatNumber(value, 1)}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
