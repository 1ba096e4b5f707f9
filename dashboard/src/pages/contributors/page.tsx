import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Contributor, Score } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Button } from '../../ui/button.tsx'
import { inputClass } from '../../ui/field.tsx'
import { formatCount, formatFixed } from '../../ui/format.ts'
import { Share, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { ageColumn, type Column, numberColumn, Table, WIDE } from '../../ui/table.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ProfileSheet } from './profile-sheet.tsx'
import { RegisterContributor } from './register-dialog.tsx'
import { FactorBar, FactorLegend, FACTORS, pointsMaxOf, pointsOf } from './score-factors.tsx'

/** Contributors by score. */
export const Page = () => (
  <div className="grid gap-3">
    <LeaderboardPanel />
    <ProfileSheet />
    <RegisterContributor />
  </div>
)

/** The maximum of the API. */
const PLACES_MAX = 200

interface Place {
  readonly rank: number
  readonly score: Score
}

const LeaderboardPanel = () => {
  const query = useQuery(queries.leaderboard(PLACES_MAX))
  const { data: contributors } = useQuery(queries.contributors())
  const [, openProfile] = useUrlState('contributor')
  const [, openForm] = useUrlState('form')
  const [text, setText] = useUrlState('name')
  const register = (
    <Button size="small" look="primary" onClick={() => openForm('register')}>
      Register a contributor
    </Button>
  )
  return (
    <QueryPanel title="Leaderboard" flush query={query} actions={register}>
      {(scores) =>
        scores.length === 0 ? (
          <Empty title="No contributors yet">
            <p>Register people and agents before they submit signals; their calls are then scored.</p>
            <div className="mt-3">{register}</div>
          </Empty>
        ) : (
          <>
            <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-3 py-2">
              <FactorLegend />
              <input
                type="search"
                aria-label="Find a contributor"
                placeholder="Find by name or node id"
                value={text}
                onChange={(event) => setText(event.target.value)}
                className={`${inputClass} sm:max-w-64`}
              />
            </div>
            <Places
              places={found(scores, text)}
              total={contributors?.length ?? scores.length}
              onOpen={openProfile}
            />
            <Unplaced contributors={unplaced(contributors ?? [], scores, text)} onOpen={openProfile} />
          </>
        )
      }
    </QueryPanel>
  )
}

const found = (scores: readonly Score[], text: string): readonly Place[] =>
  scores.map((score, index) => ({ rank: index + 1, score })).filter(({ score }) => matches(score, text))

/** Search results that are not on the leaderboard. */
const unplaced = (
  contributors: readonly Contributor[],
  scores: readonly Score[],
  text: string,
): readonly Contributor[] => {
  if (text.trim() === '' || scores.length < PLACES_MAX) return []
  const placed = new Set(scores.map(({ contributor_id }) => contributor_id))
  return contributors.filter((one) => !placed.has(one.id) && matches(one, text))
}

const matches = (
  { name, node_id }: { readonly name: string; readonly node_id: string },
  text: string,
): boolean => `${name}\n${node_id}`.toLowerCase().includes(text.trim().toLowerCase())

interface PlacesProps {
  readonly places: readonly Place[]
  readonly total: number
  readonly onOpen: (id: string) => void
}

const Places = ({ places, total, onOpen }: PlacesProps) => {
  if (places.length === 0) {
    return (
      <Empty title={total > PLACES_MAX ? `No match among the top ${PLACES_MAX}` : 'No match'}>
        Clear the search to see all contributors.
      </Empty>
    )
  }
  return (
    <>
      <Table
        label="Contributors by score"
        columns={PLACE_COLUMNS}
        rows={places}
        rowKey={({ score }) => score.contributor_id}
        onOpen={({ score }) => onOpen(score.contributor_id)}
      />
      {total > PLACES_MAX ? (
        <p className="px-3 py-2 text-xs text-muted">
          The best {PLACES_MAX} of {formatCount(total)} contributors.
        </p>
      ) : null}
    </>
  )
}

const PLACE_COLUMNS: readonly Column<Place>[] = [
  {
    name: 'Contributor',
    render: ({ rank, score: { name, node_id } }) => (
      <span className="flex items-baseline gap-2">
        <span className="w-5 shrink-0 text-right text-xs font-normal text-muted">{rank}</span>
        <span className="max-w-52 min-w-0 max-md:max-w-32">
          <span className="underline decoration-line underline-offset-4">
            <Untrusted lines={1} text={name} />
          </span>
          <span className="block text-xs font-normal text-muted">
            <Untrusted lines={1} text={node_id} />
          </span>
        </span>
      </span>
    ),
    sortBy: ({ score }) => score.name.toLowerCase(),
  },
  {
    name: 'Score',
    render: ({ score }) => (
      <span className="flex items-center gap-2">
        <strong className="w-10 shrink-0 text-right font-semibold">{formatFixed(score.score, 1)}</strong>
        <FactorBar score={score} />
      </span>
    ),
    sortBy: ({ score }) => score.score,
  },
  ...FACTORS.map(({ name, label }) => ({
    name: label,
    align: 'right' as const,
    wide: true,
    render: ({ score }: Place) => (
      <span className="whitespace-nowrap">
        {formatFixed(pointsOf(score, name), 1)}
        <span className="text-xs text-muted"> / {formatFixed(pointsMaxOf(score, name), 0)}</span>
      </span>
    ),
    sortBy: ({ score }: Place) => pointsOf(score, name),
  })),
  {
    name: 'Used',
    align: 'right',
    wide: true,
    render: ({ score }) => `${score.signals_accepted} of ${score.signals_submitted}`,
    sortBy: ({ score }) => score.signals_accepted,
  },
  numberColumn(
    'Hits',
    ({ score }) => (score.signals_resolved === 0 ? null : score.signals_profitable / score.signals_resolved),
    Share,
    WIDE,
  ),
  numberColumn('Karma', ({ score }) => score.total_karma_usd, Usd, WIDE),
  ageColumn('Last signal', ({ score }) => score.last_active, WIDE),
]

interface UnplacedProps {
  readonly contributors: readonly Contributor[]
  readonly onOpen: (id: string) => void
}

/** Found by name, but not on the leaderboard. */
const Unplaced = ({ contributors, onOpen }: UnplacedProps) =>
  contributors.length === 0 ? null : (
    <div className="border-t border-line">
      <h3 className="px-3 pt-3 pb-1 text-sm font-semibold">Below the top 200</h3>
      <Table
        label="Contributors below the top 200"
        columns={UNPLACED_COLUMNS}
        rows={contributors}
        rowKey={({ id }) => id}
        onOpen={({ id }) => onOpen(id)}
        limit={50}
      />
    </div>
  )

const UNPLACED_COLUMNS: readonly Column<Contributor>[] = [
  { name: 'Contributor', render: ({ name }) => <Untrusted lines={1} text={name} /> },
  { name: 'Node id', render: ({ node_id }) => <Untrusted lines={1} text={node_id} /> },
  { name: 'Role', render: ({ role }) => <Untrusted lines={1} text={role} />, wide: true },
  ageColumn('Registered', ({ registered_at }) => registered_at),
]
