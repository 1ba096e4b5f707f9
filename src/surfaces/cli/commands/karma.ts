import { accrualId } from '../../../core/shared/brand.ts'
import { SETTLED_AT_ONCE_MAX } from '../../../core/treasury/settle.ts'
import { viewPendingAccruals, viewSettlement, viewTreasury } from '../../../core/views/treasury.ts'
import { karmaReceipts, settlementOf, settlementStatus } from '../../../engine/queries/treasury.ts'
import { answeredAsOf, withAsOf, type AsOfOption } from '../as-of.ts'
import { completeId, numberFrom, parseReason, textUpTo } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { readState, withBelievedLog, write } from '../store.ts'
import {
  bad,
  fields,
  good,
  idColumn,
  listCell,
  percent,
  right,
  shrinking,
  warning,
  type Row,
} from '../table.ts'
import { list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'A share of every profitable trade becomes payable to its contributors. The service moves no money: a settlement ' +
        'records a payment that was made, signed by this node.',
    )
    .examples(
      'svc karma',
      'svc karma intents',
      'svc karma settle 5816654f --tx-hash 0x9f2c',
      'svc karma migrate-wallet 0x5290…9EE7 --reason "new hardware wallet"',
    )
  withAsOf(command.defaultCommand('treasury', 'pending and settled amounts (the default)')).runs(showTreasury)
  command.command('intents').summary('list pending intents, oldest first').runs(showIntents)
  command
    .command('receipts')
    .summary('list receipts of settlements, newest first')
    .option('--limit <number>', `how many, up to ${RECEIPTS_MAX}`, numberFrom(1, RECEIPTS_MAX), 500)
    .runs(showReceipts)
  command
    .command('settle')
    .summary('record that these intents were paid')
    .argument('<ids...>', 'their ids, or the beginnings that "svc karma intents" shows')
    .option('--tx-hash <hash>', 'of the transaction that paid them', textUpTo(256))
    .runs(settle)
  command
    .command('migrate-wallet')
    .summary('change the wallet after the first live receipt has locked it')
    .argument('<address>', 'the new address', textUpTo(128))
    .option('--percentage <share>', 'of the net profit, 0 to 1 (default: as before)', numberFrom(0, 1, /\S/))
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .runs(migrate)
}

const RECEIPTS_MAX = 9999

const showTreasury = (invocation: Invocation, options: AsOfOption = {}): Promise<Answer> =>
  answeredAsOf(invocation, options, ({ state, configuration }) => {
    const view = viewTreasury(state.treasury, configuration.karma)
    const { treasury_address: address } = view
    const text = fields([
      ['Karma', view.enabled ? good('enabled') : warning('disabled')],
      ['Share of profit', `${(view.percentage * 100).toFixed(4)} %`],
      ['Address', address === '' ? bad('none: no amount becomes payable') : address],
      ['Pending', `${usd(view.pending_usd)} in ${view.pending_intents} intents`],
      ['Settled', `${usd(view.settled_usd)} in ${view.receipts} receipts`],
    ])
    return { document: view, text }
  })

const showIntents = async (invocation: Invocation): Promise<Answer> => {
  const views = viewPendingAccruals((await readState(invocation)).treasury)
  const text = list(
    views,
    [
      ['created_at', 'Age'],
      right('Amount USD', ({ karma_amount_usd }) => karma_amount_usd.toFixed(6)),
      ['realized_pnl_usd', 'Profit USD'],
      'mode',
      shrinking('Contributors', ({ contributors }) =>
        listCell(contributors.map(({ node_id, share }) => `${node_id} ${percent(share)}`)),
      ),
      idColumn('Intent', ({ id }) => id),
    ],
    'There is nothing to settle.',
  )
  return { document: views, text }
}

const showReceipts = async (
  invocation: Invocation,
  { limit }: { readonly limit: number },
): Promise<Answer> => {
  const views = await withBelievedLog(invocation, (log) => karmaReceipts(log, { limit, offset: 0 }), [])
  const text = list(
    views,
    [
      ['created_at', 'Age'],
      right('Total USD', ({ total_usd }) => total_usd.toFixed(6)),
      right('Intents', ({ intent_ids }) => intent_ids.length),
      'status',
      'mode',
      ['tx_hash', 'Transaction'],
      idColumn('Receipt', ({ id }) => id),
    ],
    'Nothing has been settled yet.',
  )
  return { document: views, text }
}

const settle = async (
  invocation: Invocation,
  typedIds: readonly string[],
  { txHash = null }: { readonly txHash?: string | null },
): Promise<Answer> => {
  if (typedIds.length > SETTLED_AT_ONCE_MAX) {
    throw new UsageError(`at most ${SETTLED_AT_ONCE_MAX} intents can be settled at once`)
  }
  const { treasury: before } = await readState(invocation)
  const pendingIds = viewPendingAccruals(before).map(({ id }) => id)
  const request = { intentIds: typedIds.map((id) => accrualId(completeId(id, pendingIds))), txHash }
  const status = await withBelievedLog(
    invocation,
    (log) => settlementStatus(log, before, request),
    NOTHING_SETTLED,
  )
  await write(invocation, 'karma settle', () => ({ kind: 'settle-shares', request, status }))
  const { treasury: after } = await readState(invocation)
  const settled = await withBelievedLog(invocation, (log) => settlementOf(log, after, request), null)
  if (settled === null) throw new Failure('karma.settlement_rejected', 'nothing was settled')
  const view = viewSettlement(settled)
  const { receipt, skipped } = view
  const text = fields([
    ['Receipt', receipt.id],
    ['Intents', receipt.intent_ids.length],
    ['Total', usd(receipt.total_usd)],
    ['To', receipt.destination_wallet],
    ['Status', receipt.status],
    ...skipped.map(({ id, reason }): Row => ['Skipped', warning(`${id}: ${reason}`)]),
  ])
  return { document: view, text }
}

const NOTHING_SETTLED = { isRepeated: false, settledIds: [] } as const

const migrate = async (
  invocation: Invocation,
  address: string,
  { percentage = null, reason }: { readonly percentage?: number | null; readonly reason: string },
): Promise<Answer> => {
  await write(invocation, 'karma migrate-wallet', (operator) => ({
    kind: 'migrate-wallet',
    migration: { address, percentage, reason, operator },
  }))
  return showTreasury(invocation)
}

const usd = (value: number): string => `${value.toFixed(6)} USD`
