import type { Command } from 'commander'
import {
  viewLearningRun,
  viewWeights,
  type LearningRunView,
  type WeightsView,
} from '../../../core/views/learning.ts'
import { DOMAINS } from '../../../core/shared/domains.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { EXIT_OK, type ExitCode } from '../failure.ts'
import { parseLimitUpTo } from '../limit.ts'
import { readState, readStored } from '../store.ts'
import type { Paint } from '../style.ts'
import { bad, fields, good, quiet, table, warning, type Cell } from '../table.ts'
import { refuseUnknownWord } from '../unknown-word.ts'
import { write } from '../writing.ts'

export const learn: CliCommand = {
  group: 'Control',
  add: (program, task) => {
    const command = program
      .command('learn')
      .summary('learn from closed trades now, or show how the weights came to be')
      .description(
        'Moves the weights of the domains towards those that were right, within their bounds. The service does it ' +
          'every week; every run is recorded, also one that changes nothing.',
      )
      .addHelpText('after', examples('svc learn', 'svc learn history', 'svc learn history --limit 5 --json'))
    command
      .command('run', { isDefault: true })
      .summary('learn now (also without "run")')
      // Every unknown word ends up here, and deserves a better answer than "too many arguments".
      .allowExcessArguments()
      .action(task(run))
    command
      .command('history')
      .summary('the weights in force, and the runs that led there')
      .option('--limit <number>', `how many runs, up to ${RUNS_MAX}`, parseLimitUpTo(RUNS_MAX), 20)
      .action(task(history))
    return command
  },
}

const RUNS_MAX = 500

const run = async (bench: Bench, _options: object, command: Command): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const events = await write(bench, 'learn', { kind: 'run-learning', cause: { trigger: 'cli' } })
  const made = events.find(({ type }) => type === 'learning.weight_adjustment.v1')
  const view = made === undefined ? null : viewLearningRun(made, made.payload)
  if (view === null) throw new Error('a learning run left no record')
  await bench.print.result(view, (paint) => runText(view, paint))
  return EXIT_OK
}

const history = async (
  { dependencies, print }: Bench,
  { limit }: { readonly limit: number },
): Promise<ExitCode> => {
  const configuration = (await openConfiguration(dependencies)).current()
  const {
    brain: { learning },
  } = await readState(dependencies)
  const runs = await readStored(dependencies, { types: ['learning.weight_adjustment'], order: 'desc', limit })
  const view = viewWeights(learning, configuration, { nowMs: dependencies.clock.now(), runs })
  await print.result(view, (paint) => weightsText(view, paint))
  return EXIT_OK
}

const runText = (view: LearningRunView, paint: Paint): string =>
  fields(
    [
      ['Result', view.applied ? good(view.reason) : quiet(view.reason)],
      ['Trades', String(view.observations)],
      ['Step', String(view.step)],
      ['Version', String(view.weights_version)],
      ...DOMAINS.map((domain): readonly [string, Cell] => [
        `  ${domain}`,
        changeCell(view.new_weights[domain], view.deltas[domain]),
      ]),
    ],
    paint,
  )

const weightsText = (view: WeightsView, paint: Paint): string => {
  const now = fields(
    [
      ['Weights', `${view.origin}, version ${view.version}`],
      ...DOMAINS.map((domain): readonly [string, Cell] => [`  ${domain}`, view.weights[domain].toFixed(6)]),
      ['Last run', view.last_run_at ?? quiet('never')],
      ['Next run', view.next_run_at ?? warning('learning is off')],
    ],
    paint,
  )
  if (view.history.length === 0) return now
  return `${now}\n${table(COLUMNS, view.history.map(rowOf), paint)}`
}

const COLUMNS = [
  { title: 'At' },
  { title: 'Reason' },
  { title: 'Trades', align: 'right' },
  { title: 'Version', align: 'right' },
  ...DOMAINS.map((title) => ({ title, align: 'right' as const })),
] as const

const rowOf = (view: LearningRunView): readonly Cell[] => [
  view.at,
  view.reason,
  String(view.observations),
  String(view.weights_version),
  ...DOMAINS.map((domain) => signedCell(view.deltas[domain])),
]

const changeCell = (weight: number, delta: number): Cell => {
  const text = `${weight.toFixed(6)} (${signed(delta)})`
  if (delta === 0) return weight.toFixed(6)
  return delta > 0 ? good(text) : bad(text)
}

const signedCell = (delta: number): Cell => {
  if (delta === 0) return quiet('0')
  return delta > 0 ? good(signed(delta)) : bad(signed(delta))
}

const signed = (delta: number): string => `${delta < 0 ? '' : '+'}${delta.toFixed(6)}`
