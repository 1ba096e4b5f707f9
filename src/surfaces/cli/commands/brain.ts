import type { Command } from 'commander'
import type { State } from '../../../core/state.ts'
import { viewBrainStatus } from '../../../core/views/brain.ts'
import { viewCycle, type CycleView } from '../../../core/views/brain.ts'
import type { ExplanationView } from '../../../core/views/brain.ts'
import { explain } from '../../../engine/queries/explanation.ts'
import { refuseUnknownWord } from '../arguments.ts'
import { examples, type DefineCommand, type Invocation } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { Failure, failureOf } from '../failure.ts'
import { readState, recordDenial, recordWrite, stateOf, withExistingStore, withStore } from '../store.ts'
import { bad, fields, good, quiet, shortIds, table, warning, type Cell, type Row } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'A cycle combines the stored signals into a conviction for each symbol and proposes trades. It runs only while ' +
        'the kill switch is at level 0.',
    )
    .addHelpText('after', examples('svc brain', 'svc brain status', 'svc brain explain --symbol BTC'))
  command
    .command('run', { isDefault: true })
    .summary('run one cycle (the default)')
    .allowExcessArguments()
    .action(run(runCycle))
  command.command('status').summary('regime, kill switch and last cycle').action(run(showStatus))
  command
    .command('explain [id]')
    .summary('why the last cycle, or the cycle or conviction with this id, decided as it did')
    .option('--symbol <symbol>', 'only this symbol')
    .action(run(showExplanation))
}

const runCycle = async (invocation: Invocation, _options: unknown, command: Command): Promise<void> => {
  refuseUnknownWord(command)
  const cycle = await withStore(invocation.dependencies, async (session) => {
    const engine = await session.openEngine()
    const id = invocation.dependencies.clock.newId()
    // The events of a cycle are tied together by the cycle.
    const outcome = await engine.execute({ kind: 'run-cycle', cycleId: id, trigger: 'cli' }, { traceId: id })
    if (outcome.status === 'refused') {
      const { refusal } = outcome
      await recordDenial(engine, invocation, 'brain', refusal.code.replace('.', '_'))
      throw failureOf(refusal)
    }
    const view = viewCycle({ id, events: outcome.events }, engine.state)
    await recordWrite(engine, invocation, 'brain')
    return view
  })
  await invocation.print.result(cycle, (style) => cycleText(cycle, style))
}

const showExplanation = async (
  { dependencies, print }: Invocation,
  wanted: string | undefined,
  { symbol }: { readonly symbol?: string },
): Promise<void> => {
  const configuration = (await openConfiguration(dependencies)).current()
  const explanation = await withExistingStore(dependencies, async ({ log, trust }) => {
    const fresh = async (): Promise<State> => stateOf(log, await trust())
    const id = wanted ?? (await fresh()).brain.lastCycle?.id
    if (id === undefined)
      throw new Failure('decision.not_found', 'no cycle has run yet', { advice: 'Run one with "svc brain".' })
    const found = await explain({ log, fresh }, { id, symbol: symbol ?? null }, configuration)
    if (found === null) throw new Failure('decision.not_found', `no cycle and no conviction has the id ${id}`)
    return found
  })
  await print.result(explanation, (style) => explanationText(explanation, style))
}

const showStatus = async ({ dependencies, print }: Invocation): Promise<void> => {
  const status = viewBrainStatus(await readState(dependencies))
  await print.result(status, (style) =>
    fields(
      [
        ['Regime', status.regime ?? quiet('unknown')],
        ['Changed at', status.regime_changed_at ?? quiet('never')],
        ['Kill switch', levelCell(status.kill_switch_level)],
        ['Reason', status.kill_switch_reason ?? quiet('none')],
        ['Last cycle', status.last_cycle_id ?? quiet('none')],
        ['Ran at', status.last_cycle_at ?? quiet('never')],
      ],
      style,
    ),
  )
}

/** The cycle, then every trade it proposed and its status. */
export const cycleText = (cycle: CycleView, style: Style): string => {
  const { cycle_id, ts, regime, kill_switch_level, intents } = cycle
  const summary = fields(
    [
      ['Cycle', cycle_id],
      ['Started at', ts],
      ['Regime', regime ?? quiet('unknown')],
      ['Kill switch', levelCell(kill_switch_level)],
      ['Intents', intents.length === 0 ? quiet('none') : String(intents.length)],
    ],
    style,
  )
  return intents.length === 0 ? summary : `${summary}\n${table(INTENT_COLUMNS, intentRows(intents), style)}`
}

const INTENT_COLUMNS = [
  { title: 'Symbol', shrink: true },
  { title: 'Side' },
  { title: 'Conviction', align: 'right' },
  { title: 'Size %', align: 'right' },
  { title: 'Status' },
  { title: 'Reasons', shrink: true },
  { title: 'Intent' },
] as const

const intentRows = (intents: CycleView['intents']): readonly (readonly Cell[])[] => {
  const short = shortIds(intents.map(({ intent_id }) => intent_id))
  return intents.map((intent) => [
    intent.symbol,
    intent.direction,
    intent.conviction_score.toFixed(1),
    (intent.size_pct * 100).toFixed(2),
    intent.status === 'rejected' ? bad(intent.status) : good(intent.status),
    intent.reasons.join(', '),
    quiet(short(intent.intent_id)),
  ])
}

const levelCell = (level: number): Cell => {
  if (level === 0) return good('level 0')
  return level === 1 ? warning('level 1') : bad(`level ${level}`)
}

type Explained = ExplanationView['convictions'][number]

/** The cycle, and for each symbol its inputs, its decision, and what would have changed the decision. */
const explanationText = (explanation: ExplanationView, style: Style): string =>
  [
    fields(
      [
        ['Cycle', explanation.cycle_id],
        ['Ran at', explanation.ts],
        ['Regime', explanation.regime ?? quiet('unknown')],
        ...(explanation.rules_changed
          ? [['Note', warning('settings have changed since: "what if" uses the current ones')] as const]
          : []),
      ],
      style,
    ),
    ...explanation.convictions.map((conviction) => convictionText(conviction, style)),
  ].join('\n')

const convictionText = (conviction: Explained, style: Style): string => {
  const { inputs, what_if } = conviction
  const decisive = what_if.filter(({ changes_decision }) => changes_decision)
  return [
    fields(summaryOf(conviction), style),
    ...(inputs.length === 0 ? [] : [table(INPUT_COLUMNS, inputs.map(inputRow), style)]),
    ...(decisive.length === 0 ? [] : [table(WHAT_IF_COLUMNS, decisive.map(whatIfRow), style)]),
  ].join('\n')
}

const summaryOf = (conviction: Explained): readonly Row[] => {
  const { symbol, decision, direction, effective_conviction, confidence, next_tier, intent } = conviction
  return [
    ['Symbol', symbol],
    ['Decision', actionCell(decision.action)],
    ['Because', decision.reasons.length === 0 ? quiet('no objection') : decision.reasons.join(', ')],
    [
      'Direction',
      `${direction}, conviction ${effective_conviction.toFixed(1)}, confidence ${confidence.toFixed(2)}`,
    ],
    ...(next_tier === null ? [] : [['Next tier', tierText(next_tier)] as const]),
    ...(intent === null ? [] : [['Intent', intentText(intent)] as const]),
  ]
}

const tierText = ({ tier, value_missing }: NonNullable<Explained['next_tier']>): string =>
  value_missing === null
    ? `${tier}: out of reach in this regime`
    : `${tier}: evidence would have to be ${value_missing.toFixed(3)} stronger`

const intentText = ({ status, reasons, intent_id }: NonNullable<Explained['intent']>): string =>
  [`${status}${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}`, intent_id].join('  ')

const actionCell = (action: Explained['decision']['action']): Cell =>
  action === 'long' || action === 'short' ? good(action) : quiet(action)

const INPUT_COLUMNS = [
  { title: 'Domain' },
  { title: 'Author', shrink: true },
  { title: 'Quality', align: 'right' },
  { title: 'Share', align: 'right' },
  { title: 'Evidence', align: 'right' },
  { title: 'Share of V', align: 'right' },
  { title: 'Signal', shrink: true },
] as const

const inputRow = (input: Explained['inputs'][number]): readonly Cell[] => [
  input.domain,
  input.author,
  input.quality.toFixed(2),
  input.share.toFixed(2),
  signed(input.evidence),
  signed(input.contribution),
  quiet(input.signal_id),
]

const WHAT_IF_COLUMNS = [
  { title: 'What would have changed it' },
  { title: '', shrink: true },
  { title: 'Conviction', align: 'right' },
  { title: 'Decision' },
] as const

const whatIfRow = (one: Explained['what_if'][number]): readonly Cell[] => [
  CHANGES[one.change],
  one.subject,
  one.effective_conviction.toFixed(1),
  actionCell(one.action),
]

const CHANGES = {
  without_author: 'without author',
  without_domain: 'without domain',
  other_regime: 'in regime',
} as const

const signed = (value: number): string => `${value > 0 ? '+' : ''}${value.toFixed(3)}`
