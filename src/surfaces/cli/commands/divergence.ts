import type { DivergenceReport, DivergenceRow } from '../../../backtest/divergence.ts'
import type { PastPoint } from '../../../core/shared/as-of.ts'
import { parsePoint } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { openExisting } from '../store.ts'
import {
  bad,
  fields,
  good,
  left,
  paragraphs,
  quiet,
  right,
  shrinking,
  table,
  warning,
  type Cell,
} from '../table.ts'
import type { Text } from '../terminal.ts'
import { verified } from '../verified.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Replays the bars and signals of the log through the backtester, with the settings with which the log began, and ' +
        'lines up the trades with what really happened. Every difference has its reason in USD; what has none is ' +
        'shown as unexplained. The log is verified first: one that does not verify is not replayed. Nothing is written.',
    )
    .option('--from <seq|time>', 'only trades opened then or later', parsePoint)
    .option('--to <seq|time>', 'only trades opened up to then', parsePoint)
    .examples('svc divergence', 'svc divergence --from 2026-02-20 --json', 'svc divergence --to 20000')
    .runs(compare)
}

interface Range {
  readonly from?: PastPoint
  readonly to?: PastPoint
}

const compare = async (invocation: Invocation, { from, to }: Range): Promise<Answer> => {
  const { divergence, progress } = invocation
  await requireIntact(invocation)
  const skipped: string[] = []
  const bar = progress('replaying')
  const onError = (message: string): void => void skipped.push(message)
  const report = await divergence({ from, to, onError, onProgress: bar.update }).finally(bar.end)
  return { document: { ...report, skipped }, text: paragraphs(reportText(report), skippedText(skipped)) }
}

/** Bars, signals and trades are compared as they are stored, so all of them have to be what was signed. */
const requireIntact = async (invocation: Invocation): Promise<void> => {
  await using session = await openExisting(invocation)
  const { ok, reason, detail, first_bad_seq } = await verified(invocation, session, null)
  if (ok) return
  const where = first_bad_seq === null ? '' : ` at event ${first_bad_seq}`
  throw new Failure('integrity.broken', `the log does not verify (${reason}${where}): ${detail}`, {
    advice: 'Nothing was compared. "svc integrity" shows what is wrong, "svc doctor" what to do.',
  })
}

const skippedText = (skipped: readonly string[]): Text | null =>
  skipped.length === 0 ? null : fields(skipped.map((message) => ['Left out', warning(message)]))

const reportText = (report: DivergenceReport): Text => {
  const { settings, rows } = report
  return paragraphs(
    fields([
      ['Replayed', `${report.from ?? 'nothing'} to ${report.to ?? 'nothing'}`],
      [
        'Settings',
        settings === 'recorded' ? 'those with which the log began' : warning('of today: the log holds none'),
      ],
      ['Live', `${money(report.live_pnl_usd)} USD in ${report.live_trades} trades`],
      ['In the replay', `${money(report.replayed_pnl_usd)} USD in ${report.replayed_trades} trades`],
      ['Difference', amountCell(report.difference_usd)],
      ...Object.entries(report.by_reason).map(
        ([reason, amount]) =>
          [
            `  ${wordsOf(reason)}`,
            reason === 'unexplained' ? warning(money(amount)) : money(amount),
          ] as const,
      ),
    ]),
    table(
      rows,
      [
        left('Time', ({ time }) => time.slice(0, 16)),
        left('Symbol', ({ symbol }) => symbol),
        shrinking('Live', ({ live }) => tradeText(live)),
        shrinking('In the replay', ({ replayed }) => tradeText(replayed)),
        right('USD', ({ difference_usd: amount }) => amountCell(amount)),
        shrinking('Because of', ({ reasons }) => Object.keys(reasons).map(wordsOf).join(', ')),
      ],
      'Neither has a trade.',
    ),
  )
}

const money = (amount: number): string => amount.toFixed(2)

const amountCell = (amount: number): Cell => (amount < 0 ? bad(money(amount)) : good(money(amount)))

const wordsOf = (reason: string): string => reason.replaceAll('_', ' ')

const tradeText = (trade: DivergenceRow['live']): Cell =>
  trade === null
    ? quiet('none')
    : `${trade.direction} ${trade.entry_price} to ${trade.exit_price} ${trade.exit_reason ?? 'open'}`
