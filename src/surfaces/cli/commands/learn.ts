import type { Command } from 'commander'
import {
  viewLearningRun,
  viewWeights,
  type LearningRunView,
  type WeightsView,
} from '../../../core/views/learning.ts'
import { DOMAINS } from '../../../core/shared/domains.ts'
import { parseLimitUpTo, refuseUnknownWord } from '../arguments.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { readState, withLog, write } from '../store.ts'
import { age, bad, fields, good, quiet, table, warning, type Cell, type Row } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Moves the weights of the domains towards those that predicted closed trades correctly, within bounds. The service ' +
        'does this every week. Every run is recorded, even one that changes nothing.',
    )
    .addHelpText('after', examples('svc learn', 'svc learn history', 'svc learn history --limit 5 --json'))
  command
    .command('run', { isDefault: true })
    .summary('learn now (the default)')
    .allowExcessArguments()
    .action(run(learnNow))
  command
    .command('history')
    .summary('the current weights and past runs')
    .option('--limit <number>', `how many runs, up to ${RUNS_MAX}`, parseLimitUpTo(RUNS_MAX), 20)
    .action(run(history))
}

const RUNS_MAX = 500

const learnNow = async (invocation: Invocation, _options: object, command: Command): Promise<void> => {
  refuseUnknownWord(command)
  const events = await write(invocation, 'learn', { kind: 'run-learning', cause: { trigger: 'cli' } })
  const made = events.find(({ type }) => type === 'learning.weight_adjustment.v1')
  const view = made === undefined ? null : viewLearningRun(made, made.payload)
  if (view === null) throw new Error('a learning run left no record')
  await invocation.print.result(view, (style) => runText(view, style))
}

const history = async (
  { dependencies, print }: Invocation,
  { limit }: { readonly limit: number },
): Promise<void> => {
  const configuration = (await openConfiguration(dependencies)).current()
  const { learning } = (await readState(dependencies)).brain
  const query = { types: ['learning.weight_adjustment'], order: 'desc', limit } as const
  const runs = await withLog(dependencies, (log) => log.read(query), [])
  const view = viewWeights(learning, configuration, { nowMs: dependencies.clock.now(), runs })
  await print.result(view, (style) => weightsText(view, dependencies.clock.now(), style))
}

const runText = (view: LearningRunView, style: Style): string =>
  fields(
    [
      ['Result', view.applied ? good(view.reason) : quiet(view.reason)],
      ['Trades', String(view.observations)],
      ['Step', String(view.step)],
      ['Version', String(view.weights_version)],
      ...DOMAINS.map((domain): Row => [
        `  ${domain}`,
        changeCell(view.new_weights[domain], view.deltas[domain]),
      ]),
    ],
    style,
  )

const weightsText = (view: WeightsView, nowMs: number, style: Style): string => {
  const now = fields(
    [
      ['Weights', `${view.origin}, version ${view.version}`],
      ...DOMAINS.map((domain): Row => [`  ${domain}`, view.weights[domain].toFixed(6)]),
      ['Last run', view.last_run_at ?? quiet('never')],
      ['Next run', view.next_run_at ?? warning('learning is off')],
    ],
    style,
  )
  if (view.history.length === 0) return now
  return `${now}\n${table(
    COLUMNS,
    view.history.map((past) => rowOf(past, nowMs)),
    style,
  )}`
}

const COLUMNS = [
  { title: 'Age', align: 'right' },
  { title: 'Reason', shrink: true },
  { title: 'Trades', align: 'right' },
  { title: 'Version', align: 'right' },
  { title: 'Changes', shrink: true },
] as const

const rowOf = (view: LearningRunView, nowMs: number): readonly Cell[] => {
  const changes = DOMAINS.filter((domain) => view.deltas[domain] !== 0).map(
    (domain) => `${domain} ${signed(view.deltas[domain], 4)}`,
  )
  return [
    age(view.at, nowMs),
    view.reason,
    String(view.observations),
    String(view.weights_version),
    changes.length === 0 ? quiet('none') : changes.join(' '),
  ]
}

const changeCell = (weight: number, delta: number): Cell => {
  const text = `${weight.toFixed(6)} (${signed(delta, 6)})`
  if (delta === 0) return weight.toFixed(6)
  return delta > 0 ? good(text) : bad(text)
}

const signed = (delta: number, digits: number): string => `${delta < 0 ? '' : '+'}${delta.toFixed(digits)}`
