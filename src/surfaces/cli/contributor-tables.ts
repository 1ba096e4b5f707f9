import type { ContributorView } from '../../core/views/contributors.ts'
import type { ScoreView } from '../../core/views/reputation.ts'
import type { Paint } from './style.ts'
import { fields, quiet, table, type Cell } from './table.ts'

export const contributorRows = ({
  id,
  node_id,
  name,
  role,
  registered_at,
}: ContributorView): readonly (readonly [string, Cell])[] => [
  ['Contributor', id],
  ['Node', node_id],
  ['Name', name],
  ['Role', role],
  ['Registered at', registered_at],
]

export const contributorTable = (contributors: readonly ContributorView[], paint: Paint): string =>
  table(
    [
      { title: 'Node' },
      { title: 'Name' },
      { title: 'Role' },
      { title: 'Registered at' },
      { title: 'Contributor' },
    ],
    contributors.map(({ id, node_id, name, role, registered_at }) => [
      node_id,
      name,
      role,
      registered_at,
      quiet(id),
    ]),
    paint,
  )

export const leaderboardTable = (best: readonly ScoreView[], paint: Paint): string =>
  table(
    [
      { title: '#', align: 'right' },
      { title: 'Node' },
      { title: 'Name' },
      { title: 'Score', align: 'right' },
      { title: 'Hit rate', align: 'right' },
      { title: 'Accepted', align: 'right' },
      { title: 'Submitted', align: 'right' },
      { title: 'Karma USD', align: 'right' },
    ],
    best.map((rated, index) => [
      String(index + 1),
      rated.node_id,
      rated.name,
      rated.score.toFixed(1),
      percentOf(rated.hit_rate),
      String(rated.signals_accepted),
      String(rated.signals_submitted),
      rated.total_karma_usd.toFixed(2),
    ]),
    paint,
  )

/** The score, then what it is made of. */
export const scoreText = (rated: ScoreView, paint: Paint): string => {
  const summary = fields(
    [
      ['Score', rated.score.toFixed(1)],
      ['Contributor', `${rated.name} (${rated.node_id})`],
      [
        'Signals',
        `${rated.signals_submitted} submitted, ${rated.signals_accepted} accepted, ` +
          `${rated.signals_resolved} resolved, ${rated.signals_profitable} profitable`,
      ],
      ['Hit rate', percentOf(rated.hit_rate)],
      ['Brier score', rated.brier_score.toFixed(3)],
      ['Streak', `${rated.streak} days`],
      ['Karma', `${rated.karma.toFixed(1)} (50 is chance), ${rated.total_karma_usd.toFixed(2)} USD`],
      ['Last active', rated.last_active === '' ? quiet('never') : rated.last_active],
    ],
    paint,
  )
  const factors = Object.entries(rated.factors).map(([name, { value, weight, contribution }]) => [
    name.replace('_', ' '),
    value.toFixed(3),
    weight.toFixed(2),
    contribution.toFixed(2),
  ])
  return `${summary}\n${table(FACTOR_COLUMNS, factors, paint)}`
}

const FACTOR_COLUMNS = [
  { title: 'Factor' },
  { title: 'Value', align: 'right' },
  { title: 'Weight', align: 'right' },
  { title: 'Contribution', align: 'right' },
] as const

const percentOf = (share: number): string => `${(share * 100).toFixed(1)} %`
