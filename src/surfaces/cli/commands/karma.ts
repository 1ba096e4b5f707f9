import { InvalidArgumentError, type Command } from 'commander'
import { SETTLED_AT_ONCE_MAX } from '../../../core/treasury/settle.ts'
import { viewPendingAccruals, viewSettlement, viewTreasury } from '../../../core/views/treasury.ts'
import { karmaReceipts, settlementOf, settlementStatus } from '../../../engine/queries/karma.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { EXIT_OK, Failure, UsageError, type ExitCode } from '../failure.ts'
import { intentsTable, receiptsTable, settlementText, treasuryText } from '../karma-tables.ts'
import { parseLimitUpTo } from '../limit.ts'
import { readState, withLog } from '../store.ts'
import { refuseUnknownWord } from '../unknown-word.ts'
import { write, writeAs } from '../writing.ts'

export const karma: CliCommand = {
  group: 'Control',
  add: (program, task) => {
    const command = program
      .command('karma')
      .summary('what profitable trades owe to contributors; settle it')
      .description('The service moves no money: a settlement records that it was moved, signed by this node.')
      .addHelpText(
        'after',
        examples(
          'svc karma',
          'svc karma intents',
          'svc karma settle 5816654f-95fc-81f1-b2b2-170ceb326439 --tx-hash 0x9f2c',
          'svc karma migrate-wallet 0x52908400098527886E0F7030069857D2E4169EE7 --reason "new hardware wallet"',
        ),
      )
    command
      .command('treasury', { isDefault: true })
      .summary('what is owed and what was settled (also without "treasury")')
      // Every unknown word ends up here, and deserves a better answer than "too many arguments".
      .allowExcessArguments()
      .action(task(treasury))
    command.command('intents').summary('what waits to be settled, oldest first').action(task(intents))
    command
      .command('receipts')
      .summary('what was settled, newest first')
      .option('--limit <number>', `how many, up to ${RECEIPTS_MAX}`, parseLimitUpTo(RECEIPTS_MAX), 500)
      .action(task(receipts))
    command
      .command('settle')
      .summary('record that these intents were paid')
      .argument('<ids...>', 'as "svc karma intents" shows them')
      .option('--tx-hash <hash>', 'of the transaction that paid them', parseTxHash)
      .action(task(settle))
    command
      .command('migrate-wallet')
      .summary('change the wallet after the first live receipt has locked it')
      .argument('<address>', 'where karma goes from now on', parseAddress)
      .option('--percentage <share>', 'of the net profit, 0 to 1 (default: as before)', parseShare)
      .requiredOption('--reason <text>', 'why, for the log', parseReason)
      .action(task(migrate))
    return command
  },
}

const treasury = async (
  { dependencies, print }: Bench,
  _options: object,
  command: Command,
): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const rules = (await openConfiguration(dependencies)).current().karma
  const view = viewTreasury((await readState(dependencies)).treasury, rules)
  await print.result(view, (paint) => treasuryText(view, paint))
  return EXIT_OK
}

const intents = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const views = viewPendingAccruals((await readState(dependencies)).treasury)
  await print.result(views, (paint) =>
    views.length === 0 ? 'Nothing waits to be settled.\n' : intentsTable(views, paint),
  )
  return EXIT_OK
}

const RECEIPTS_MAX = 9999

const receipts = async (
  { dependencies, print }: Bench,
  { limit }: { readonly limit: number },
): Promise<ExitCode> => {
  const views = await withLog(dependencies, (log) => karmaReceipts(log, { limit, offset: 0 }), [])
  await print.result(views, (paint) =>
    views.length === 0 ? 'Nothing was settled yet.\n' : receiptsTable(views, paint),
  )
  return EXIT_OK
}

const settle = async (
  bench: Bench,
  intentIds: readonly string[],
  { txHash = null }: { readonly txHash?: string | null },
): Promise<ExitCode> => {
  if (intentIds.length > SETTLED_AT_ONCE_MAX) {
    throw new UsageError(`at most ${SETTLED_AT_ONCE_MAX} intents can be settled at once`)
  }
  const { dependencies } = bench
  const request = { intentIds, txHash }
  const { treasury: before } = await readState(dependencies)
  const status = await withLog(dependencies, (log) => settlementStatus(log, before, request), NOTHING_SETTLED)
  await write(bench, 'karma settle', { kind: 'settle-shares', request, status })
  const { treasury: after } = await readState(dependencies)
  const settled = await withLog(dependencies, (log) => settlementOf(log, after, request), null)
  if (settled === null) throw new Failure('karma.settlement_rejected', 'nothing was settled')
  const view = viewSettlement(settled)
  await bench.print.result(view, (paint) => settlementText(view, paint))
  return EXIT_OK
}

const NOTHING_SETTLED = { isRepeated: false, settledIds: [] } as const

const migrate = async (
  bench: Bench,
  address: string,
  { percentage = null, reason }: { readonly percentage?: number | null; readonly reason: string },
): Promise<ExitCode> => {
  await writeAs(bench, 'karma migrate-wallet', (operator) => ({
    kind: 'migrate-wallet',
    migration: { address, percentage, reason, operator },
  }))
  const rules = (await openConfiguration(bench.dependencies)).current().karma
  const view = viewTreasury((await readState(bench.dependencies)).treasury, rules)
  await bench.print.result(view, (paint) => treasuryText(view, paint))
  return EXIT_OK
}

const textOfLength =
  (lengthMax: number) =>
  (text: string): string => {
    const trimmed = text.trim()
    if (trimmed.length >= 1 && trimmed.length <= lengthMax && trimmed.isWellFormed()) return trimmed
    throw new InvalidArgumentError(`It must have 1 to ${lengthMax} characters.`)
  }

const parseTxHash = textOfLength(256)
const parseAddress = textOfLength(128)
const parseReason = textOfLength(500)

const parseShare = (text: string): number => {
  const share = Number(text)
  if (text.trim() !== '' && share >= 0 && share <= 1) return share
  throw new InvalidArgumentError('It must be a number from 0 to 1.')
}
