import { contributorId, nodeId } from '../../../core/shared/brand.ts'
import { InvalidArgumentError, type Command } from 'commander'
import { contributorRegistration } from '../../../core/signals/contributors.ts'
import { activeById, activeByNode, type Contributor } from '../../../core/signals/contributors.ts'
import type { State } from '../../../core/state.ts'
import { viewContributors, viewRegistered, type ContributorView } from '../../../core/views/contributors.ts'
import { viewLeaderboard, viewScore, type ScoreView, type Scoring } from '../../../core/views/reputation.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { completeId, parseLimitUpTo } from '../arguments.ts'
import { examples, type DefineCommand, type Invocation, type Run } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import type { CommandDependencies } from '../dependencies.ts'
import { Failure, UsageError } from '../failure.ts'
import { parsedBy, readState, write } from '../store.ts'
import { age, fields, percent, printable, quiet, shortIds, table, type Row } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Contributors are the people and agents who submit signals. Their score follows from the outcomes.',
    )
    .addHelpText(
      'after',
      examples(
        'svc contributors list',
        'svc contributors register --node-id ann --name Ann --role curator',
        'svc contributors score --node-id ann',
        'svc contributors leaderboard --limit 5',
      ),
    )
  command.command('list').summary('list contributors, oldest first').action(run(list))
  addRegister(command, run)
  named(command.command('remove').summary('remove a contributor; its history stays')).action(run(remove))
  named(command.command('score').summary('the score of a contributor and its factors')).action(run(score))
  command
    .command('leaderboard')
    .summary('list contributors by score')
    .option('--limit <number>', `how many, up to ${LEADERS_MAX}`, parseLimitUpTo(LEADERS_MAX), 20)
    .action(run(leaderboard))
}

const LEADERS_MAX = 200

const addRegister = (parent: Command, run: Run): void => {
  parent
    .command('register')
    .summary('register a contributor')
    .requiredOption('--node-id <id>', 'the name it submits under, up to 128 characters')
    .requiredOption('--name <name>', 'its display name')
    .requiredOption('--role <role>', 'usually operator, agent, curator or tester')
    .option('--metadata <json>', 'a JSON object to store with it', parseJson)
    .action(run(register))
}

const named = (command: Command): Command =>
  command
    .argument('[id]', 'its id, or the beginning that "svc contributors list" shows')
    .option('--node-id <id>', 'the name it submits under, instead of its id')

interface Named {
  readonly nodeId?: string
}

const list = async ({ dependencies, print }: Invocation): Promise<void> => {
  const all = viewContributors((await readState(dependencies)).signals.contributors)
  await print.result(all, (style) =>
    all.length === 0
      ? 'No contributor is registered yet.\n'
      : contributorTable(all, dependencies.clock.now(), style),
  )
}

interface RegisterOptions {
  readonly nodeId: string
  readonly name: string
  readonly role: string
  readonly metadata?: unknown
}

const register = async (
  invocation: Invocation,
  { nodeId: node_id, ...rest }: RegisterOptions,
): Promise<void> => {
  const { node_id: id, ...registration } = parsedBy(contributorRegistration, { node_id, ...rest })
  const events = await write(invocation, 'contributors register', {
    kind: 'register-contributor',
    registration: { ...registration, nodeId: nodeId(id) },
    surface: 'cli',
  })
  const registered = viewRegistered(events)
  await invocation.print.result(registered, (style) => fields(contributorRows(registered), style))
}

const remove = async (invocation: Invocation, id: string | undefined, options: Named): Promise<void> => {
  const found = namedContributor(await readState(invocation.dependencies), id, options)
  await write(invocation, 'contributors remove', { kind: 'remove-contributor', id: found.id, surface: 'cli' })
  await invocation.print.result({ removed: found.id }, () => `${printable(found.nodeId)} is removed\n`)
}

const score = async (
  { dependencies, print }: Invocation,
  id: string | undefined,
  options: Named,
): Promise<void> => {
  const state = await readState(dependencies)
  const found = viewScore(namedContributor(state, id, options), await scoringOf(dependencies, state))
  await print.result(found, (style) => scoreText(found, style))
}

const leaderboard = async (
  { dependencies, print }: Invocation,
  { limit }: { readonly limit: number },
): Promise<void> => {
  const state = await readState(dependencies)
  const best = viewLeaderboard(state.signals.contributors, await scoringOf(dependencies, state), limit)
  await print.result(best, (style) =>
    best.length === 0 ? 'No contributor is registered yet.\n' : leaderboardTable(best, style),
  )
}

const scoringOf = async (
  dependencies: CommandDependencies,
  { reputation: { outcomes } }: State,
): Promise<Scoring> => ({
  asOf: isoNow(dependencies.clock),
  outcomes,
  rules: (await openConfiguration(dependencies)).current().karma,
})

const namedContributor = (
  { signals: { contributors: known } }: State,
  id: string | undefined,
  { nodeId: node }: Named,
): Contributor => {
  if ((id === undefined) === (node === undefined)) {
    throw new UsageError('name the contributor by its id or by --node-id')
  }
  const found =
    id === undefined
      ? activeByNode(known, nodeId(node ?? ''))
      : activeById(
          known,
          contributorId(
            completeId(
              id,
              viewContributors(known).map((contributor) => contributor.id),
            ),
          ),
        )
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
    throw new InvalidArgumentError(
      `It is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

const contributorRows = ({ id, node_id, name, role, registered_at }: ContributorView): readonly Row[] => [
  ['Contributor', id],
  ['Node', node_id],
  ['Name', name],
  ['Role', role],
  ['Registered at', registered_at],
]

const contributorTable = (contributors: readonly ContributorView[], nowMs: number, style: Style): string => {
  const short = shortIds(contributors.map(({ id }) => id))
  return table(
    [
      { title: 'Node', shrink: true },
      { title: 'Name', shrink: true },
      { title: 'Role', shrink: true },
      { title: 'Registered', align: 'right' },
      { title: 'Contributor' },
    ],
    contributors.map(({ id, node_id, name, role, registered_at }) => [
      node_id,
      name,
      role,
      age(registered_at, nowMs),
      quiet(short(id)),
    ]),
    style,
  )
}

const leaderboardTable = (best: readonly ScoreView[], style: Style): string =>
  table(
    [
      { title: '#', align: 'right' },
      { title: 'Node', shrink: true },
      { title: 'Name', shrink: true },
      { title: 'Score', align: 'right' },
      { title: 'Hit rate', align: 'right' },
      { title: 'Accepted', align: 'right' },
      { title: 'Karma USD', align: 'right' },
    ],
    best.map((rated, index) => [
      String(index + 1),
      rated.node_id,
      rated.name,
      rated.score.toFixed(1),
      percent(rated.hit_rate),
      `${rated.signals_accepted}/${rated.signals_submitted}`,
      rated.total_karma_usd.toFixed(2),
    ]),
    style,
  )

/** The score, then its factors. */
const scoreText = (rated: ScoreView, style: Style): string => {
  const summary = fields(
    [
      ['Score', rated.score.toFixed(1)],
      ['Contributor', `${rated.name} (${rated.node_id})`],
      [
        'Signals',
        `${rated.signals_submitted} submitted, ${rated.signals_accepted} accepted, ` +
          `${rated.signals_resolved} resolved, ${rated.signals_profitable} profitable`,
      ],
      ['Hit rate', percent(rated.hit_rate)],
      ['Brier score', rated.brier_score.toFixed(3)],
      ['Streak', `${rated.streak} days`],
      ['Karma', `${rated.karma.toFixed(1)} (50 is chance), ${rated.total_karma_usd.toFixed(2)} USD`],
      ['Last active', rated.last_active === '' ? quiet('never') : rated.last_active],
    ],
    style,
  )
  const factors = Object.entries(rated.factors).map(([name, { value, weight, contribution }]) => [
    name.replace('_', ' '),
    value.toFixed(3),
    weight.toFixed(2),
    contribution.toFixed(2),
  ])
  return `${summary}\n${table(FACTOR_COLUMNS, factors, style)}`
}

const FACTOR_COLUMNS = [
  { title: 'Factor' },
  { title: 'Value', align: 'right' },
  { title: 'Weight', align: 'right' },
  { title: 'Contribution', align: 'right' },
] as const
