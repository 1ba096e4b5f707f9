import { type Command, InvalidArgumentError } from 'commander'
import {
  activeById,
  activeByNode,
  type Contributor,
  contributorRegistration,
} from '../../../core/signals/contributors.ts'
import type { State } from '../../../core/state.ts'
import { viewContributors, viewRegistered } from '../../../core/views/contributors.ts'
import { type Scoring, viewLeaderboard, viewScore } from '../../../core/views/reputation.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { type Bench, type CliCommand, examples, type Task } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { contributorRows, contributorTable, leaderboardTable, scoreText } from '../contributor-tables.ts'
import { EXIT_OK, type ExitCode, Failure, UsageError } from '../failure.ts'
import { parseLimitUpTo } from '../limit.ts'
import { readState } from '../store.ts'
import { fields, printable } from '../table.ts'
import type { CommandDependencies } from '../dependencies.ts'
import { understood, write } from '../writing.ts'

export const contributors: CliCommand = {
  group: 'Signals',
  add: (program, task) => {
    const command = program
      .command('contributors')
      .summary('who may submit signals, and how good they are')
      .description('Contributors stand behind signals. Their score follows from what became of them.')
      .addHelpText(
        'after',
        examples(
          'svc contributors list',
          'svc contributors register --node-id ann --name Ann --role curator',
          'svc contributors score --node-id ann',
          'svc contributors leaderboard --limit 5',
        ),
      )
    command.command('list').summary('all of them, oldest first').action(task(list))
    addRegister(command, task)
    named(command.command('remove').summary('remove one; its history stays')).action(task(remove))
    named(command.command('score').summary('the score of one, and how it comes about')).action(task(score))
    command
      .command('leaderboard')
      .summary('the best first')
      .option('--limit <number>', `how many, up to ${LEADERS_MAX}`, parseLimitUpTo(LEADERS_MAX), 20)
      .action(task(leaderboard))
    return command
  },
}

const LEADERS_MAX = 200

const addRegister = (parent: Command, task: Task): void => {
  parent
    .command('register')
    .summary('register one')
    .requiredOption('--node-id <id>', 'the name it submits under, up to 128 characters')
    .requiredOption('--name <name>', 'for people')
    .requiredOption('--role <role>', 'usually operator, agent, curator or tester')
    .option('--metadata <json>', 'a JSON object that is kept with it', parseJson)
    .action(task(register))
}

/** Ids are long and nobody remembers them; the node id will do. */
const named = (command: Command): Command =>
  command
    .argument('[id]', 'as "svc contributors list" shows it')
    .option('--node-id <id>', 'the name it submits under, instead of the id')

interface Named {
  readonly nodeId?: string
}

const list = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const all = viewContributors((await readState(dependencies)).signals.contributors)
  await print.result(all, (paint) =>
    all.length === 0 ? 'Nobody is registered yet.\n' : contributorTable(all, paint),
  )
  return EXIT_OK
}

interface RegisterOptions {
  readonly nodeId: string
  readonly name: string
  readonly role: string
  readonly metadata?: unknown
}

const register = async (bench: Bench, { nodeId: node_id, ...said }: RegisterOptions): Promise<ExitCode> => {
  const { node_id: nodeId, ...rest } = understood(contributorRegistration, { node_id, ...said })
  const events = await write(bench, 'contributors register', {
    kind: 'register-contributor',
    registration: { nodeId, ...rest },
    surface: 'cli',
  })
  const registered = viewRegistered(events)
  await bench.print.result(registered, (paint) => fields(contributorRows(registered), paint))
  return EXIT_OK
}

const remove = async (bench: Bench, id: string | undefined, options: Named): Promise<ExitCode> => {
  const found = meant(await readState(bench.dependencies), id, options)
  await write(bench, 'contributors remove', { kind: 'remove-contributor', id: found.id, surface: 'cli' })
  await bench.print.result({ removed: found.id }, () => `${printable(found.nodeId)} is removed\n`)
  return EXIT_OK
}

const score = async (
  { dependencies, print }: Bench,
  id: string | undefined,
  options: Named,
): Promise<ExitCode> => {
  const state = await readState(dependencies)
  const found = viewScore(meant(state, id, options), await scoringOf(dependencies, state))
  await print.result(found, (paint) => scoreText(found, paint))
  return EXIT_OK
}

const leaderboard = async (
  { dependencies, print }: Bench,
  { limit }: { readonly limit: number },
): Promise<ExitCode> => {
  const state = await readState(dependencies)
  const best = viewLeaderboard(state.signals.contributors, await scoringOf(dependencies, state), limit)
  await print.result(best, (paint) =>
    best.length === 0 ? 'Nobody is registered yet.\n' : leaderboardTable(best, paint),
  )
  return EXIT_OK
}

const scoringOf = async (
  dependencies: CommandDependencies,
  { reputation: { outcomes } }: State,
): Promise<Scoring> => ({
  asOf: isoNow(dependencies.clock),
  outcomes,
  rules: (await openConfiguration(dependencies)).current().karma,
})

const meant = (
  { signals: { contributors: known } }: State,
  id: string | undefined,
  { nodeId }: Named,
): Contributor => {
  if ((id === undefined) === (nodeId === undefined)) {
    throw new UsageError('name the contributor by its id or by --node-id')
  }
  const found = id === undefined ? activeByNode(known, nodeId ?? '') : activeById(known, id)
  if (found !== null) return found
  const detail = id === undefined ? `no contributor has node_id ${nodeId}` : `no contributor has id ${id}`
  throw new Failure('contributor.not_found', detail, {
    advice: 'See who is registered with "svc contributors list".',
    extras: id === undefined ? { node_id: nodeId ?? '' } : { id },
  })
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new InvalidArgumentError(`It is no JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
