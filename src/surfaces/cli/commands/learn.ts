import { DOMAINS } from '../../../core/shared/domains.ts'
import { viewLearningRun, type LearningRunView, type WeightsView } from '../../../core/views/learning.ts'
import { weightsOf } from '../../../engine/queries/views.ts'
import { runsAsOf, type AnsweredFrom } from '../as-of.ts'
import { numberFrom } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { write } from '../store.ts'
import {
  bad,
  fields,
  good,
  paragraphs,
  quiet,
  shrinking,
  signed,
  warning,
  type Cell,
  type Row,
} from '../table.ts'
import type { Text } from '../terminal.ts'
import { details, list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Moves the weights of the domains towards those that predicted closed trades correctly, within bounds. The service ' +
        'does this every week. Every run is recorded, even one that changes nothing.',
    )
    .examples('svc learn', 'svc learn history', 'svc learn history --limit 5 --json')
  command.defaultCommand('run', 'learn now (the default)').runs(learnNow)
  const past = command
    .command('history')
    .summary('the current weights and past runs')
    .option('--limit <number>', `how many runs, up to ${RUNS_MAX}`, numberFrom(1, RUNS_MAX), 20)
  runsAsOf(past, history)
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

const history = async (
  { reader, configuration, clock }: AnsweredFrom,
  { limit }: { readonly limit: number },
): Promise<Answer> => {
  const view = await weightsOf(reader, configuration, { clock, limit })
  return { document: view, text: weightsText(view) }
}

const weightsText = (view: WeightsView): Text =>
  paragraphs(
    details(view, [
      ['Weights', `${view.origin}, version ${view.version}`],
      ...DOMAINS.map((domain): Row => [`  ${domain}`, view.weights[domain].toFixed(6)]),
      'last_run_at',
      ['Next run', view.next_run_at ?? warning('learning is off')],
    ]),
    view.history.length === 0
      ? null
      : list(view.history, [
          ['at', 'Age'],
          'reason',
          ['observations', 'Trades'],
          ['weights_version', 'Version'],
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
