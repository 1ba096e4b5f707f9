import { intentId } from '../../../core/shared/brand.ts'
import {
  INTENT_FILTERS,
  viewIntent,
  viewIntents,
  type IntentFilter,
  type IntentView,
} from '../../../core/views/orders.ts'
import { decideIntent } from '../../operator-actions.ts'
import { runsAsOf, type AnsweredFrom } from '../as-of.ts'
import { completeId, numberFrom, textUpTo } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { readState, write } from '../store.ts'
import { bad, good, idColumn, left, right, warning, type Cell, type Row } from '../table.ts'
import type { Text } from '../terminal.ts'
import { details, list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Trades that the brain proposed, newest first, with their status and the reasons. Large ones wait for approval.',
    )
    .examples(
      'svc intents',
      'svc intents --status awaiting_approval',
      'svc intents approve 019c7874 --note "size is fine"',
      'svc intents deny 019c7874',
    )
  const listed = command
    .defaultCommand('list', 'list intents (the default)')
    .choice('--status <status>', 'only intents with this status', INTENT_FILTERS, 'all')
    .option('--limit <number>', `how many, up to ${INTENTS_MAX}`, numberFrom(1, INTENTS_MAX), 100)
  runsAsOf(listed, listFound, 'intents')
  for (const verdict of ['approve', 'deny'] as const) {
    command
      .command(verdict)
      .summary(`${verdict === 'approve' ? 'execute' : 'reject'} an intent that awaits approval`)
      .argument('<id>', 'its id, or the beginning that "svc intents" shows')
      .option('--note <text>', 'why, for the log', textUpTo(500))
      .runs((invocation, id: string, { note }: { readonly note?: string }) =>
        judge(invocation, verdict, id, note),
      )
  }
}

const listFound = ({ state }: AnsweredFrom, filter: IntentFilter): Answer => {
  const found = viewIntents(state.trading.intents, filter)
  return { document: found, text: intentTable(found) }
}

const INTENTS_MAX = 500

const judge = async (
  invocation: Invocation,
  verdict: 'approve' | 'deny',
  typed: string,
  note: string | undefined,
): Promise<Answer> => {
  const id = intentId(completeId(typed, (await readState(invocation)).trading.intents.keys()))
  await write(invocation, `intents ${verdict}`, (operator) =>
    decideIntent(`${verdict}-intent`, id, note, operator, 'cli'),
  )
  const known = (await readState(invocation)).trading.intents.get(id)
  if (known === undefined) throw new Failure('intent.not_found', `no intent has id ${id}`)
  const view = viewIntent(known)
  const status: Row = ['Status', statusCell(view)]
  const text = details(view, ['intent_id', 'symbol', 'direction', status, 'reasons', 'position_id'])
  return { document: view, text }
}

const intentTable = (found: readonly IntentView[]): Text =>
  list(
    found,
    [
      'symbol',
      ['direction', 'Side'],
      left('Status', statusCell),
      right('Size %', ({ size_pct }) => (size_pct * 100).toFixed(2)),
      ['conviction_score', 'Conviction'],
      'reasons',
      ['valid_until', 'Expires'],
      idColumn('Intent', ({ intent_id }) => intent_id),
    ],
    'There are no such intents.',
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
