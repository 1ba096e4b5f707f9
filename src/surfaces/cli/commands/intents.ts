import { intentId } from '../../../core/shared/brand.ts'
import { Option, type Command } from 'commander'
import {
  INTENT_FILTERS,
  viewIntents,
  type IntentFilter,
  type IntentView,
} from '../../../core/views/orders.ts'
import { viewIntent } from '../../../core/views/orders.ts'
import { completeId, parseLimitUpTo, parseTextUpTo, refuseUnknownWord } from '../arguments.ts'
import { examples, type Invocation, type DefineCommand, type Run } from '../command.ts'
import { Failure } from '../failure.ts'
import { readState, writeAs } from '../store.ts'
import { age, bad, fields, good, quiet, shortIds, table, warning, type Cell } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Trades that the brain proposed, newest first, with their status and the reasons. Large ones wait for approval.',
    )
    .addHelpText(
      'after',
      examples(
        'svc intents',
        'svc intents --status awaiting_approval',
        'svc intents approve 019c7874 --note "size is fine"',
        'svc intents deny 019c7874',
      ),
    )
  command
    .command('list', { isDefault: true })
    .summary('list intents (the default)')
    .addOption(
      new Option('--status <status>', 'only intents with this status').choices(INTENT_FILTERS).default('all'),
    )
    .option('--limit <number>', `how many, up to ${INTENTS_MAX}`, parseLimitUpTo(INTENTS_MAX), 100)
    .allowExcessArguments()
    .action(run(list))
  addJudgement(command, run, 'approve', 'execute an intent that awaits approval')
  addJudgement(command, run, 'deny', 'reject an intent that awaits approval')
}

const INTENTS_MAX = 500
const parseNote = parseTextUpTo(500)

type Verdict = 'approve' | 'deny'

const addJudgement = (parent: Command, run: Run, verdict: Verdict, summary: string): void => {
  parent
    .command(verdict)
    .summary(summary)
    .argument('<id>', 'its id, or the beginning that "svc intents" shows')
    .option('--note <text>', 'why, for the log', parseNote)
    .action(
      run((invocation, id: string, { note }: { readonly note?: string }) =>
        judge(invocation, verdict, id, note ?? null),
      ),
    )
}

const list = async (
  { dependencies, print }: Invocation,
  filter: IntentFilter,
  command: Command,
): Promise<void> => {
  refuseUnknownWord(command)
  const found = viewIntents((await readState(dependencies)).trading.intents, filter)
  await print.result(found, (style) =>
    found.length === 0 ? 'There are no such intents.\n' : intentTable(found, dependencies.clock.now(), style),
  )
}

const judge = async (
  invocation: Invocation,
  verdict: Verdict,
  typed: string,
  note: string | null,
): Promise<void> => {
  const id = completeId(typed, (await readState(invocation.dependencies)).trading.intents.keys())
  await writeAs(invocation, `intents ${verdict}`, (operator) => ({
    kind: `${verdict}-intent`,
    decision: { intentId: intentId(id), operator, note, surface: 'cli' },
  }))
  const known = (await readState(invocation.dependencies)).trading.intents.get(intentId(id))
  if (known === undefined) throw new Failure('intent.not_found', `no intent has id ${id}`)
  const view = viewIntent(known)
  await invocation.print.result(view, (style) => intentText(view, style))
}

export const intentTable = (found: readonly IntentView[], nowMs: number, style: Style): string => {
  const short = shortIds(found.map(({ intent_id }) => intent_id))
  return table(
    COLUMNS,
    found.map((intent) => [
      intent.symbol,
      intent.direction,
      statusCell(intent),
      (intent.size_pct * 100).toFixed(2),
      intent.conviction_score.toFixed(1),
      reasonsCell(intent),
      Date.parse(intent.valid_until) > nowMs ? age(intent.valid_until, nowMs) : quiet('no'),
      quiet(short(intent.intent_id)),
    ]),
    style,
  )
}

const COLUMNS = [
  { title: 'Symbol', shrink: true },
  { title: 'Side' },
  { title: 'Status' },
  { title: 'Size %', align: 'right' },
  { title: 'Conviction', align: 'right' },
  { title: 'Reasons', shrink: true },
  { title: 'Expires' },
  { title: 'Intent' },
] as const

const intentText = (intent: IntentView, style: Style): string =>
  fields(
    [
      ['Intent', intent.intent_id],
      ['Symbol', `${intent.symbol} ${intent.direction}`],
      ['Status', statusCell(intent)],
      ['Reasons', reasonsCell(intent)],
      ['Position', intent.position_id ?? quiet('none')],
    ],
    style,
  )

const statusCell = ({ status }: IntentView): Cell => {
  switch (status) {
    case 'awaiting_approval':
      return warning(status)
    case 'filled':
      return good(status)
    case 'rejected':
    case 'expired':
      return bad(status)
    case 'ready':
    case 'executing':
      return status
  }
}

const reasonsCell = ({ reasons }: IntentView): Cell =>
  reasons.length === 0 ? quiet('none') : reasons.join(', ')
