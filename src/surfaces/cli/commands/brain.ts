import {
  viewBrainStatus,
  viewCycle,
  type CycleView,
  type ExplanationView,
} from '../../../core/views/brain.ts'
import { PastStates } from '../../../engine/past-states.ts'
import { explain } from '../../../engine/queries/explanation.ts'
import { runsAsOf } from '../as-of.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { Failure, failureOf } from '../failure.ts'
import { believedBy, openExisting, recordAccess } from '../store.ts'
import {
  bad,
  fields,
  good,
  idColumn,
  left,
  levelCell,
  listCell,
  paragraphs,
  quiet,
  right,
  shrinking,
  signed,
  warning,
  type Cell,
} from '../table.ts'
import type { Text } from '../terminal.ts'
import { list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'A cycle combines the stored signals into a conviction for each symbol and proposes trades. It runs only while ' +
        'the kill switch is at level 0.',
    )
    .examples('svc brain', 'svc brain status', 'svc brain explain --symbol BTC')
  command.defaultCommand('run', 'run one cycle (the default)').runs(runCycle)
  const status = command.command('status').summary('regime, kill switch and last cycle')
  runsAsOf(status, ({ state }) => ({ document: viewBrainStatus(state) }))
  command
    .command('explain [id]')
    .summary('why the last cycle, or the cycle or conviction with this id, decided as it did')
    .option('--symbol <symbol>', 'only this symbol')
    .runs(showExplanation)
}

const runCycle = async (invocation: Invocation): Promise<Answer> => {
  await using session = await invocation.openStore()
  const engine = await session.openEngine()
  const id = invocation.clock.newId()
  // The events of a cycle are tied together by the cycle.
  const outcome = await engine.execute({ kind: 'run-cycle', cycleId: id, trigger: 'cli' }, { traceId: id })
  if (outcome.status === 'refused') {
    const { refusal } = outcome
    await recordAccess(engine, invocation, 'brain', refusal.code.replace('.', '_'))
    throw failureOf(refusal)
  }
  const view = viewCycle({ id, events: outcome.events }, engine.state)
  await recordAccess(engine, invocation, 'brain')
  return { document: view, text: cycleText(view) }
}

const showExplanation = async (
  invocation: Invocation,
  wanted: string | undefined,
  { symbol = null }: { readonly symbol?: string | null },
): Promise<Answer> => {
  await using session = await openExisting(invocation)
  const { configuration } = await session.present()
  const { log, state, fresh } = await believedBy(session.log, session.trust)
  const id = wanted ?? state.brain.lastCycle?.id
  if (id === undefined)
    throw new Failure('decision.not_found', 'no cycle has run yet', { advice: 'Run one with "svc brain".' })
  const past = new PastStates(session.log, session.trust)
  const found = await explain({ log, fresh, past }, { id, symbol }, configuration)
  if (found === null) throw new Failure('decision.not_found', `no cycle and no conviction has the id ${id}`)
  return { document: found, text: explanationText(found) }
}

/** The cycle, then every trade it proposed and its status. */
export const cycleText = ({ cycle_id, ts, regime, kill_switch_level, intents }: CycleView): Text =>
  paragraphs(
    fields([
      ['Cycle', cycle_id],
      ['Started at', ts],
      ['Regime', regime ?? quiet('unknown')],
      ['Kill switch', levelCell(kill_switch_level)],
      ['Intents', intents.length === 0 ? quiet('none') : intents.length],
    ]),
    intents.length === 0
      ? null
      : list(intents, [
          'symbol',
          ['direction', 'Side'],
          ['conviction_score', 'Conviction'],
          right('Size %', ({ size_pct }) => (size_pct * 100).toFixed(2)),
          left('Status', ({ status }) => (status === 'rejected' ? bad(status) : good(status))),
          'reasons',
          idColumn('Intent', ({ intent_id }) => intent_id),
        ]),
  )

type Explained = ExplanationView['convictions'][number]

const RULES_CHANGED = warning('settings have changed since: "what if" uses those of the cycle')

/** The cycle, and for each symbol its inputs, its decision, and what would have changed the decision. */
const explanationText = ({ cycle_id, ts, regime, rules_changed, convictions }: ExplanationView): Text =>
  paragraphs(
    fields([
      ['Cycle', cycle_id],
      ['Ran at', ts],
      ['Regime', regime ?? quiet('unknown')],
      ['Note', rules_changed ? RULES_CHANGED : null],
    ]),
    ...convictions.map(convictionText),
  )

const convictionText = (conviction: Explained): Text => {
  const { symbol, decision, direction, effective_conviction, confidence, next_tier, intent } = conviction
  const { inputs, what_if } = conviction
  const sizing = intent?.sizing ?? null
  const decisive = what_if.filter(({ changes_decision }) => changes_decision)
  return paragraphs(
    fields([
      ['Symbol', symbol],
      ['Decision', actionCell(decision.action)],
      ['Because', listCell(decision.reasons, 'no objection')],
      [
        'Direction',
        `${direction}, conviction ${effective_conviction.toFixed(1)}, confidence ${confidence.toFixed(2)}`,
      ],
      ['Next tier', next_tier === null ? null : tierText(next_tier)],
      ['Intent', intent === null ? null : intentText(intent)],
      ['Size', sizing === null ? null : sizingCell(sizing)],
    ]),
    inputs.length === 0
      ? null
      : list(inputs, [
          'domain',
          'author',
          right('Quality', ({ quality }) => quality.toFixed(2)),
          right('Share', ({ share }) => share.toFixed(2)),
          right('Evidence', ({ evidence }) => signed(evidence, 3)),
          right('Share of V', ({ contribution }) => signed(contribution, 3)),
          shrinking('Signal', ({ signal_id }) => quiet(signal_id)),
        ]),
    decisive.length === 0
      ? null
      : list(decisive, [
          left('What would have changed it', ({ change }) => CHANGES[change]),
          ['subject', ''],
          right('Conviction', (one) => one.effective_conviction.toFixed(1)),
          left('Decision', ({ action }) => actionCell(action)),
        ]),
  )
}

const tierText = ({ tier, value_missing }: NonNullable<Explained['next_tier']>): string =>
  value_missing === null
    ? `${tier}: out of reach in this regime`
    : `${tier}: evidence would have to be ${value_missing.toFixed(3)} stronger`

const intentText = ({ status, reasons, intent_id }: NonNullable<Explained['intent']>): string =>
  `${status}${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}  ${intent_id}`

/** Which limit decided, and what earlier trades say. */
const sizingCell = (sizing: NonNullable<NonNullable<Explained['intent']>['sizing']>): Cell => {
  const { probation, size_usd: sizeUsd, bound_by, evidence_trades, win_chance, payoff } = sizing
  const size = sizeUsd === null ? 'none' : `${sizeUsd.toFixed(2)} USD`
  const floor = probation ? `, on probation at the floor of ${sizing.floor_usd.toFixed(2)} USD` : ''
  const learned =
    `Kelly ${sizing.kelly_usd.toFixed(2)} USD from ${evidence_trades.toFixed(1)} trades: ` +
    `${(win_chance * 100).toFixed(1)} % wins, payoff ${payoff.toFixed(2)}`
  const text = `${size} by ${bound_by.join(', ')}${floor}; ${learned}`
  return probation ? warning(text) : text
}

const actionCell = (action: Explained['decision']['action']): Cell =>
  action === 'long' || action === 'short' ? good(action) : quiet(action)

const CHANGES = {
  without_author: 'without author',
  without_domain: 'without domain',
  other_regime: 'in regime',
} as const
