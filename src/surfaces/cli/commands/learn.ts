import { DOMAINS } from '../../../core/shared/domains.ts'
import { viewLearningRun, type LearningRunView, type WeightsView } from '../../../core/views/learning.ts'
import { weightsOf } from '../../../engine/queries/views.ts'
import { answeredAsOf, withAsOf, type AsOfOption } from '../as-of.ts'
import { numberFrom } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { write } from '../store.ts'
import {
  age,
  bad,
  fields,
  good,
  paragraphs,
  quiet,
  right,
  shrinking,
  signed,
  table,
  warning,
  type Cell,
  type Row,
} from '../table.ts'
import type { Text } from '../terminal.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Moves the weights of the domains towards those that predicted closed trades correctly, within bounds. The service ' +
        'does this every week. Every run is recorded, even one that changes nothing.',
    )
    .examples('svc learn', 'svc learn history', 'svc learn history --limit 5 --json')
  command.defaultCommand('run', 'learn now (the default)').runs(learnNow)
  withAsOf(command.command('history'))
    .summary('the current weights and past runs')
    .option('--limit <number>', `how many runs, up to ${RUNS_MAX}`, numberFrom(1, RUNS_MAX), 20)
    .runs(history)
}

const RUNS_MAX = 500

const learnNow = async (invocation: Invocation): Promise<Answer> => {
  const events = await write(invocation, 'learn', () => ({ kind: 'run-learning', cause: { trigger: 'cli' } }))
  const made = events.find(({ type }) => type === 'learning.weight_adjustment.v1')
  const view = made === undefined ? null : viewLearningRun(made, made.payload)
  if (view === null) throw new Error('a learning run left no record')
  const text = fields([
    ['Result', view.applied ? good(view.reason) : quiet(view.reason)],
    ['Trades', view.observations],
    ['Step', view.step],
    ['Version', view.weights_version],
    ...DOMAINS.map((name): Row => [`  ${name}`, changeCell(view.new_weights[name], view.deltas[name])]),
  ])
  return { document: view, text }
}

const history = (
  invocation: Invocation,
  { limit, ...asOf }: { readonly limit: number } & AsOfOption,
): Promise<Answer> =>
  answeredAsOf(invocation, asOf, async ({ reader, configuration, clock }) => {
    const view = await weightsOf(reader, configuration, { clock, limit })
    return { document: view, text: weightsText(view, clock.now()) }
  })

const weightsText = (view: WeightsView, nowMs: number): Text =>
  paragraphs(
    fields([
      ['Weights', `${view.origin}, version ${view.version}`],
      ...DOMAINS.map((domain): Row => [`  ${domain}`, view.weights[domain].toFixed(6)]),
      ['Last run', view.last_run_at ?? quiet('never')],
      ['Next run', view.next_run_at ?? warning('learning is off')],
    ]),
    view.history.length === 0
      ? null
      : table(view.history, [
          right('Age', ({ at }) => age(at, nowMs)),
          shrinking('Reason', ({ reason }) => reason),
          right('Trades', ({ observations }) => observations),
          right('Version', ({ weights_version }) => weights_version),
          shrinking('Changes', changesCell),
        ]),
  )

const changesCell = ({ deltas }: LearningRunView): Cell => {
  const changed = DOMAINS.filter((domain) => deltas[domain] !== 0)
  const texts = changed.map((domain) => `${domain} ${signed(deltas[domain], 4)}`)
  return texts.length === 0 ? quiet('none') : texts.join(' ')
}

const changeCell = (weight: number, delta: number): Cell => {
  const text = `${weight.toFixed(6)} (${signed(delta, 6)})`
  if (delta === 0) return weight.toFixed(6)
  return delta > 0 ? good(text) : bad(text)
}
