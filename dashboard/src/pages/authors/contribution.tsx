import { useMemo } from 'react'
import type { Contribution, ContributionDay } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Chart, type ChartSeries } from '../../ui/chart/chart.tsx'
import { formatCount, formatFixed, formatNumber, formatPercent } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { Unknown } from '../../ui/numbers.tsx'
import { Section } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { ageColumn, type Column, Table, WIDE } from '../../ui/table.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { formatGrade, IntervalBar, intervalText, skillText } from './interval.tsx'

interface ContributionProps {
  readonly contribution: Contribution
}

/** Contribution of one author's calls, without its calibration. */
export const ContributionSections = ({ contribution }: ContributionProps) => (
  <>
    <Section title="What its calls add" hint="Beyond chance, and beyond what others said before">
      <Summary contribution={contribution} />
    </Section>
    <Section title="Contribution over time" hint="Sum of what its calls added, 90 days">
      <ContributionChart days={contribution.days} />
    </Section>
    <Section title="Moves together with" hint="How far one repeats the other">
      <Companions contribution={contribution} />
    </Section>
    <Section title="Newest decided calls" hint="From −2, fully wrong, to +2 beyond what was to be expected">
      <NewestCalls contribution={contribution} />
    </Section>
  </>
)

const Summary = ({ contribution: one }: ContributionProps) => (
  <div className="grid gap-2">
    <p className="text-[13px]">
      <strong className="font-semibold">
        {one.outcomes === 0 ? 'No outcomes yet' : formatGrade(one.edge)}
      </strong>
      {one.outcomes === 0 ? null : (
        <span className="text-muted">
          {' '}
          ({intervalText(one)}): {skillText(one)}
        </span>
      )}
    </p>
    <IntervalBar skill={one} />
    <Facts
      facts={{
        Evidence: `${formatNumber(one.evidence, 1)} independent outcomes; ${formatCount(one.calls)} calls, not counting its own repeats`,
        'Its own part': `${formatFixed(one.own, 3)}, sure and not said by others before`,
        ...(one.borrowed === 0
          ? {}
          : {
              Borrowed: `${formatPercent(one.borrowed, { digits: 0 })} was said before: the rest must be surer`,
            }),
        'Weight now': `${formatFixed(one.trust, 2)}: ${formatFixed(one.influence, 2)} by what it adds, where a call of it is open, ${formatFixed(one.newcomer, 2)} as a newcomer`,
        Karma: `${formatFixed(one.karma, 1)} of 100; 50 is chance`,
      }}
    />
  </div>
)

/** A line needs two points. */
const DAYS_MIN = 2

export const ContributionChart = ({ days }: { readonly days: readonly ContributionDay[] }) => {
  const series = useMemo<readonly ChartSeries[]>(
    () => [
      { kind: 'area', points: days.map(({ day, total }) => ({ ts: `${day}T00:00:00Z`, value: total })) },
    ],
    [days],
  )
  if (days.length < DAYS_MIN) {
    return (
      <Empty title="Too few days with outcomes">The line begins once calls were decided on two days.</Empty>
    )
  }
  const last = days.at(-1)
  return (
    <Chart
      label={`Contribution over time: ${formatGrade(last?.total ?? 0)} after ${days.length} days with outcomes`}
      series={series}
      levels={CHANCE}
      fitLevels
      heightPx={180}
      format={(value) => formatGrade(value, 1)}
    />
  )
}

const CHANCE = [{ value: 0, title: 'chance', tone: 'neutral' }] as const

const Companions = ({ contribution: { moves_with: companions } }: ContributionProps) =>
  companions.length === 0 ? (
    <p className="text-xs text-muted">
      Nobody: its calls do not repeat those of others, and nobody repeats it.
    </p>
  ) : (
    <ul className="grid gap-1.5" aria-label="Authors it moves together with">
      {companions.map(({ author, name, overlap, speaks, same_group }) => (
        <li key={author} className="grid grid-cols-[1fr_auto] items-center gap-x-3 text-[13px]">
          <span className="min-w-0">
            <AuthorLink author={author} name={name} />
            <span className="text-xs text-muted">
              {speaks === 'before' ? 'speaks before it' : 'speaks after it'}
            </span>
          </span>
          <span className="flex items-center gap-2">
            {same_group ? <Badge tone="warn">same group</Badge> : null}
            <span className="w-12 text-right">{formatPercent(overlap, { digits: 0 })}</span>
          </span>
        </li>
      ))}
    </ul>
  )

export const AuthorLink = ({ author, name }: { readonly author: string; readonly name: string }) => (
  <PageLink to="/authors" search={{ author }} className="block max-w-full">
    <Untrusted lines={1} text={name} />
  </PageLink>
)

const NewestCalls = ({ contribution: { newest_calls: calls } }: ContributionProps) =>
  calls.length === 0 ? (
    <p className="text-xs text-muted">
      No call of it was decided by the market yet. That happens at the horizon of a call.
    </p>
  ) : (
    <div className="rounded-md border border-line">
      <Table
        label="Newest decided calls and what they added"
        columns={CALL_COLUMNS}
        rows={calls}
        rowKey={({ call_id }) => call_id}
      />
    </div>
  )

type Call = Contribution['newest_calls'][number]

const CALL_COLUMNS: readonly Column<Call>[] = [
  {
    name: 'Call',
    render: ({ symbol, direction, horizon }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        <strong className="font-medium">
          <Untrusted lines={1} text={symbol} />
        </strong>
        <DirectionBadge direction={direction} />
        <span className="text-xs text-muted">{horizon}</span>
      </span>
    ),
  },
  {
    name: 'Price',
    align: 'right',
    // No colour: a rise is good for one call and bad for another.
    render: ({ return_pct: moved }) => (moved === null ? <Unknown /> : formatPercent(moved, { plus: true })),
  },
  {
    name: 'Added',
    align: 'right',
    render: ({ added }) => (
      <span className={added > 0 ? 'text-good' : added < 0 ? 'text-bad' : 'text-muted'}>
        {formatGrade(added)}
      </span>
    ),
    sortBy: ({ added }) => added,
  },
  {
    name: 'Outcome',
    ...WIDE,
    render: ({ hit }) =>
      hit === null ? <Unknown /> : <Badge tone={hit ? 'good' : 'bad'}>{hit ? 'hit' : 'miss'}</Badge>,
  },
  ageColumn('Decided', ({ at }) => at),
]
