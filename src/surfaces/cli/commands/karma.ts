import { accrualId } from '../../../core/shared/brand.ts'
import { InvalidArgumentError, type Command } from 'commander'
import { SETTLED_AT_ONCE_MAX } from '../../../core/treasury/settle.ts'
import { viewPendingAccruals, type ShareAccrualView, type ReceiptView } from '../../../core/views/treasury.ts'
import {
  viewSettlement,
  viewTreasury,
  type SettlementView,
  type TreasuryView,
} from '../../../core/views/treasury.ts'
import { karmaReceipts, settlementOf, settlementStatus } from '../../../engine/queries/treasury.ts'
import { completeId, parseLimitUpTo, parseReason, parseTextUpTo, refuseUnknownWord } from '../arguments.ts'
import { examples, type DefineCommand, type Invocation } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { Failure, UsageError } from '../failure.ts'
import { readState, withLog, write, writeAs } from '../store.ts'
import { age, bad, fields, good, percent, quiet, shortIds, table, warning, type Row } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'A share of every profitable trade becomes payable to its contributors. The service moves no money: a settlement ' +
        'records a payment that was made, signed by this node.',
    )
    .addHelpText(
      'after',
      examples(
        'svc karma',
        'svc karma intents',
        'svc karma settle 5816654f --tx-hash 0x9f2c',
        'svc karma migrate-wallet 0x5290…9EE7 --reason "new hardware wallet"',
      ),
    )
  command
    .command('treasury', { isDefault: true })
    .summary('pending and settled amounts (the default)')
    .allowExcessArguments()
    .action(run(showTreasury))
  command.command('intents').summary('list pending intents, oldest first').action(run(showIntents))
  command
    .command('receipts')
    .summary('list receipts of settlements, newest first')
    .option('--limit <number>', `how many, up to ${RECEIPTS_MAX}`, parseLimitUpTo(RECEIPTS_MAX), 500)
    .action(run(showReceipts))
  command
    .command('settle')
    .summary('record that these intents were paid')
    .argument('<ids...>', 'their ids, or the beginnings that "svc karma intents" shows')
    .option('--tx-hash <hash>', 'of the transaction that paid them', parseTxHash)
    .action(run(settle))
  command
    .command('migrate-wallet')
    .summary('change the wallet after the first live receipt has locked it')
    .argument('<address>', 'the new address', parseAddress)
    .option('--percentage <share>', 'of the net profit, 0 to 1 (default: as before)', parseShare)
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .action(run(migrate))
}

const showTreasury = async (
  { dependencies, print }: Invocation,
  _options: object,
  command: Command,
): Promise<void> => {
  refuseUnknownWord(command)
  const rules = (await openConfiguration(dependencies)).current().karma
  const view = viewTreasury((await readState(dependencies)).treasury, rules)
  await print.result(view, (style) => treasuryText(view, style))
}

const showIntents = async ({ dependencies, print }: Invocation): Promise<void> => {
  const views = viewPendingAccruals((await readState(dependencies)).treasury)
  await print.result(views, (style) =>
    views.length === 0
      ? 'There is nothing to settle.\n'
      : intentsTable(views, dependencies.clock.now(), style),
  )
}

const RECEIPTS_MAX = 9999

const showReceipts = async (
  { dependencies, print }: Invocation,
  { limit }: { readonly limit: number },
): Promise<void> => {
  const views = await withLog(dependencies, (log) => karmaReceipts(log, { limit, offset: 0 }), [])
  await print.result(views, (style) =>
    views.length === 0
      ? 'Nothing has been settled yet.\n'
      : receiptsTable(views, dependencies.clock.now(), style),
  )
}

const settle = async (
  invocation: Invocation,
  typedIds: readonly string[],
  { txHash = null }: { readonly txHash?: string | null },
): Promise<void> => {
  if (typedIds.length > SETTLED_AT_ONCE_MAX) {
    throw new UsageError(`at most ${SETTLED_AT_ONCE_MAX} intents can be settled at once`)
  }
  const { dependencies } = invocation
  const { treasury: before } = await readState(dependencies)
  const pendingIds = viewPendingAccruals(before).map(({ id }) => id)
  const request = { intentIds: typedIds.map((id) => accrualId(completeId(id, pendingIds))), txHash }
  const status = await withLog(dependencies, (log) => settlementStatus(log, before, request), NOTHING_SETTLED)
  await write(invocation, 'karma settle', { kind: 'settle-shares', request, status })
  const { treasury: after } = await readState(dependencies)
  const settled = await withLog(dependencies, (log) => settlementOf(log, after, request), null)
  if (settled === null) throw new Failure('karma.settlement_rejected', 'nothing was settled')
  const view = viewSettlement(settled)
  await invocation.print.result(view, (style) => settlementText(view, style))
}

const NOTHING_SETTLED = { isRepeated: false, settledIds: [] } as const

const migrate = async (
  invocation: Invocation,
  address: string,
  { percentage = null, reason }: { readonly percentage?: number | null; readonly reason: string },
): Promise<void> => {
  await writeAs(invocation, 'karma migrate-wallet', (operator) => ({
    kind: 'migrate-wallet',
    migration: { address, percentage, reason, operator },
  }))
  const rules = (await openConfiguration(invocation.dependencies)).current().karma
  const view = viewTreasury((await readState(invocation.dependencies)).treasury, rules)
  await invocation.print.result(view, (style) => treasuryText(view, style))
}

const parseTxHash = parseTextUpTo(256)
const parseAddress = parseTextUpTo(128)

const parseShare = (text: string): number => {
  const share = Number(text)
  if (text.trim() !== '' && share >= 0 && share <= 1) return share
  throw new InvalidArgumentError('It must be a number from 0 to 1.')
}

const treasuryText = (view: TreasuryView, style: Style): string =>
  fields(
    [
      ['Karma', view.enabled ? good('enabled') : warning('disabled')],
      ['Share of profit', `${(view.percentage * 100).toFixed(4)} %`],
      [
        'Address',
        view.treasury_address === '' ? bad('none: no amount becomes payable') : view.treasury_address,
      ],
      ['Pending', `${usd(view.pending_usd)} in ${view.pending_intents} intents`],
      ['Settled', `${usd(view.settled_usd)} in ${view.receipts} receipts`],
    ],
    style,
  )

const settlementText = ({ receipt, skipped }: SettlementView, style: Style): string =>
  fields(
    [
      ['Receipt', receipt.id],
      ['Intents', String(receipt.intent_ids.length)],
      ['Total', usd(receipt.total_usd)],
      ['To', receipt.destination_wallet],
      ['Status', receipt.status],
      ...skipped.map(({ id, reason }): Row => ['Skipped', warning(`${id}: ${reason}`)]),
    ],
    style,
  )

const intentsTable = (intents: readonly ShareAccrualView[], nowMs: number, style: Style): string => {
  const short = shortIds(intents.map(({ id }) => id))
  return table(
    [
      { title: 'Age', align: 'right' },
      { title: 'Amount USD', align: 'right' },
      { title: 'Profit USD', align: 'right' },
      { title: 'Mode' },
      { title: 'Contributors', shrink: true },
      { title: 'Intent' },
    ],
    intents.map((intent) => [
      age(intent.created_at, nowMs),
      intent.karma_amount_usd.toFixed(6),
      intent.realized_pnl_usd.toFixed(2),
      intent.mode,
      intent.contributors.length === 0
        ? quiet('none')
        : intent.contributors.map(({ node_id, share }) => `${node_id} ${percent(share)}`).join(', '),
      short(intent.id),
    ]),
    style,
  )
}

const receiptsTable = (receipts: readonly ReceiptView[], nowMs: number, style: Style): string => {
  const short = shortIds(receipts.map(({ id }) => id))
  return table(
    [
      { title: 'Age', align: 'right' },
      { title: 'Total USD', align: 'right' },
      { title: 'Intents', align: 'right' },
      { title: 'Status' },
      { title: 'Mode' },
      { title: 'Transaction', shrink: true },
      { title: 'Receipt' },
    ],
    receipts.map((receipt) => [
      age(receipt.created_at, nowMs),
      receipt.total_usd.toFixed(6),
      String(receipt.intent_ids.length),
      receipt.status,
      receipt.mode,
      receipt.tx_hash ?? quiet('none'),
      short(receipt.id),
    ]),
    style,
  )
}

const usd = (value: number): string => `${value.toFixed(6)} USD`
