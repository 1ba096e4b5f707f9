import { contributorId, nodeId } from '../../../core/shared/brand.ts'
import { InvalidArgumentError } from 'commander'
import {
  activeById,
  activeByNode,
  contributorRegistration,
  type Contributor,
} from '../../../core/signals/contributors.ts'
import type { State } from '../../../core/state.ts'
import type { ContributionView } from '../../../core/views/contribution.ts'
import { viewContributors, viewRegistered } from '../../../core/views/contributors.ts'
import {
  viewLeaderboard,
  viewScore,
  type ScoreView,
  scoringIn,
  type Scoring,
} from '../../../core/views/reputation.ts'
import { believedLog } from '../../../engine/believed-log.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { contributionOf } from '../../../engine/queries/authors.ts'
import {
  agedBy,
  answeredAsOf,
  answeredNow,
  runsAsOf,
  withAsOf,
  type AnsweredFrom,
  type AsOfOption,
} from '../as-of.ts'
import { completeId, numberFrom } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation, SvcCommand } from '../command.ts'
import { Failure, messageOf, UsageError } from '../failure.ts'
import { openExisting, parsedBy, readPresent, readState, stateOf, write } from '../store.ts'
import {
  bad,
  fields,
  good,
  idColumn,
  left,
  listCell,
  paragraphs,
  percent,
  plainNumber,
  printable,
  quiet,
  right,
  signed,
  table,
} from '../table.ts'
import type { Text } from '../terminal.ts'
import { details, list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Contributors are the people and agents who submit signals. Their score follows from the outcomes.',
    )
    .examples(
      'svc contributors list',
      'svc contributors register --node-id ann --name Ann --role curator',
      'svc contributors score --node-id ann',
      'svc contributors explain --node-id ann',
      'svc contributors leaderboard --limit 5',
    )
  command
    .command('list')
    .summary('list contributors, oldest first')
    .runs((invocation) => answeredNow(invocation, listAll))
  command
    .command('register')
    .summary('register a contributor')
    .requiredOption('--node-id <id>', 'the name it submits under, up to 128 characters')
    .requiredOption('--name <name>', 'its display name')
    .requiredOption('--role <role>', 'usually operator, agent, curator or tester')
    .option('--public-key <hex>', 'its Ed25519 key, 64 hex digits; then its submissions must be signed')
    .option('--metadata <json>', 'a JSON object to store with it', parseJson)
    .runs(register)
  named(command.command('remove').summary('remove a contributor; its history stays')).runs(remove)
  named(
    command.command('explain').summary('what its calls add, its weight, and with whom it moves together'),
  ).runs(explain)
  withAsOf(named(command.command('score').summary('the score of a contributor and its factors'))).runs(score)
  const leaders = command
    .command('leaderboard')
    .summary('list contributors by score')
    .option('--limit <number>', `how many, up to ${LEADERS_MAX}`, numberFrom(1, LEADERS_MAX), 20)
  runsAsOf(leaders, leaderboard, 'leaderboard')
}

const LEADERS_MAX = 200
const NOBODY = 'No contributor is registered yet.'

const named = (command: SvcCommand): SvcCommand =>
  command
    .argument('[id]', 'its id, or the beginning that "svc contributors list" shows')
    .option('--node-id <id>', 'the name it submits under, instead of its id')

interface Named {
  readonly nodeId?: string
}

const listAll = ({ state }: AnsweredFrom): Answer => {
  const all = viewContributors(state.signals.contributors)
  const id = idColumn<(typeof all)[number]>('Contributor', (one) => one.id)
  return { document: all, text: list(all, ['node_id', 'name', 'role', 'registered_at', id], NOBODY) }
}

const register = async (
  invocation: Invocation,
  {
    nodeId: node_id,
    publicKey: public_key,
    ...rest
  }: { readonly nodeId: string; readonly publicKey?: string },
): Promise<Answer> => {
  const input = { node_id, ...(public_key === undefined ? {} : { public_key }), ...rest }
  const { node_id: id, public_key: publicKey, ...registration } = parsedBy(contributorRegistration, input)
  const events = await write(invocation, 'contributors register', () => ({
    kind: 'register-contributor',
    registration: { ...registration, nodeId: nodeId(id), publicKey },
    surface: 'cli',
    isOperator: true,
  }))
  return { document: viewRegistered(events) }
}

const remove = async (invocation: Invocation, id: string | undefined, options: Named): Promise<Answer> => {
  const found = namedContributor(await readState(invocation), id, options)
  await write(invocation, 'contributors remove', () => ({
    kind: 'remove-contributor',
    id: found.id,
    surface: 'cli',
    isOperator: true,
  }))
  return { document: { removed: found.id }, text: `${printable(found.nodeId)} is removed\n` }
}

const score = (
  invocation: Invocation,
  id: string | undefined,
  options: Named & AsOfOption,
): Promise<Answer> =>
  answeredAsOf(invocation, options, (from) => {
    const found = viewScore(namedContributor(from.state, id, options), scoringOf(from))
    return { document: found, text: scoreText(found) }
  })

const explain = async (invocation: Invocation, id: string | undefined, options: Named): Promise<Answer> => {
  const { state, clock, configuration } = await readPresent(invocation)
  const author = { kind: 'contributor', id: namedContributor(state, id, options).id } as const
  const context = { now: isoNow(clock), rules: configuration.karma }
  await using session = await openExisting(invocation)
  const log = believedLog(session.log, { state, fresh: () => stateOf(session.log, session.trust) })
  const view = await contributionOf(log, state, author, context)
  return agedBy(clock, { document: view, text: contributionText(view) })
}

const leaderboard = (from: AnsweredFrom, { limit }: { readonly limit: number }): Answer => {
  const best = viewLeaderboard(from.state.signals.contributors, scoringOf(from), limit)
  return { document: best, text: leaderTable(best) }
}

const leaderTable = (best: readonly ScoreView[]): Text =>
  list(
    best,
    [
      right('#', (_rated, index) => index + 1),
      'node_id',
      'name',
      'score',
      'hit_rate',
      right('Accepted', (rated) => `${rated.signals_accepted}/${rated.signals_submitted}`),
      ['total_karma_usd', 'Karma USD'],
    ],
    NOBODY,
  )

const scoringOf = ({ state, clock, configuration }: AnsweredFrom): Scoring =>
  scoringIn(state.reputation, isoNow(clock), configuration.karma)

const namedContributor = (
  { signals: { contributors: known } }: State,
  id: string | undefined,
  { nodeId: node }: Named,
): Contributor => {
  if ((id === undefined) === (node === undefined)) {
    throw new UsageError('name the contributor by its id or by --node-id')
  }
  const ids = viewContributors(known).map((contributor) => contributor.id)
  const found =
    id === undefined
      ? activeByNode(known, nodeId(node ?? ''))
      : activeById(known, contributorId(completeId(id, ids)))
  if (found !== null) return found
  const detail = id === undefined ? `no contributor has node_id ${node}` : `no contributor has id ${id}`
  throw new Failure('contributor.not_found', detail, {
    advice: '"svc contributors list" shows who is registered.',
    extras: id === undefined ? { node_id: node ?? '' } : { id },
  })
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${messageOf(error)}`)
  }
}

/** The score, then its factors. */
const scoreText = (rated: ScoreView): Text =>
  paragraphs(
    details(rated, [
      'score',
      ['Contributor', `${rated.name} (${rated.node_id})`],
      [
        'Signals',
        `${rated.signals_submitted} submitted, ${rated.signals_accepted} accepted, ` +
          `${rated.signals_resolved} resolved, ${rated.signals_profitable} profitable`,
      ],
      'hit_rate',
      ['Brier score', rated.brier_score.toFixed(3)],
      ['Streak', `${rated.streak} days`],
      ['Karma', `${rated.karma.toFixed(1)} (50 is chance), ${rated.total_karma_usd.toFixed(2)} USD`],
      ['Last active', rated.last_active || quiet('never')],
    ]),
    table(Object.entries(rated.factors), [
      left('Factor', ([name]) => name.replace('_', ' ')),
      right('Value', ([, { value }]) => value.toFixed(3)),
      right('Weight', ([, { weight }]) => weight.toFixed(2)),
      right('Contribution', ([, { contribution }]) => contribution.toFixed(2)),
    ]),
  )

/** In one screen: what it adds, with whom it moves, its newest calls. */
const contributionText = (view: ContributionView): Text =>
  paragraphs(
    fields([
      ['Contributor', view.name],
      [
        'Edge',
        `${signed(view.edge, 3)} (${signed(view.edge_low, 3)} to ${signed(view.edge_high, 3)}), from ` +
          `${view.evidence.toFixed(1)} independent outcomes; 0 is chance`,
      ],
      [
        'Its own',
        `${view.own.toFixed(3)} of it is sure and new${view.borrowed === 0 ? '' : `; ${percent(view.borrowed)} of it others said before`}`,
      ],
      [
        'Weight',
        `${view.trust.toFixed(2)}: ${view.influence.toFixed(2)} where a call of it is open, ${view.newcomer.toFixed(2)} as a newcomer`,
      ],
      ['Karma', `${view.karma.toFixed(1)} (50 is chance)`],
      ['Calls', `${view.calls}, not counting its own repeats; ${plainNumber(view.outcomes)} outcomes`],
      ['Added in 90 days', signed(view.days.at(-1)?.total ?? 0, 2)],
      [
        'Moves with',
        listCell(
          view.moves_with
            .slice(0, COMPANIONS_SHOWN)
            .map(
              ({ name, overlap, speaks, same_group }) =>
                `${name} ${percent(overlap)} (${speaks === 'before' ? 'who speaks before' : 'who follows'}${same_group ? ', same group' : ''})`,
            ),
          'nobody',
        ),
      ],
      [
        'Calibration',
        listCell(
          view.calibration.map(
            ({ stated, hit_rate, calls }) =>
              `stated ${percent(stated)}: ${percent(hit_rate)} hits of ${calls}`,
          ),
          'no resolved calls yet',
        ),
      ],
    ]),
    list(
      view.newest_calls.slice(0, CALLS_SHOWN),
      [
        ['at', 'Age'],
        'symbol',
        'direction',
        'horizon',
        right('Price', ({ return_pct: moved }) => (moved === null ? quiet('unknown') : percent(moved))),
        left('Outcome', ({ hit }) => (hit === true ? good('hit') : bad('miss'))),
        right('Added', ({ added }) => signed(added, 2)),
      ],
      'No call of it has been decided by the market yet.',
    ),
  )

const COMPANIONS_SHOWN = 5
/** `--json` has twice as many. */
const CALLS_SHOWN = 10
