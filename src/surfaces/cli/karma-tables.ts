import type {
  ShareAccrualView,
  ReceiptView,
  SettlementView,
  TreasuryView,
} from '../../core/views/treasury.ts'
import type { Paint } from './style.ts'
import { bad, fields, good, quiet, table, warning, type Cell } from './table.ts'

export const treasuryText = (view: TreasuryView, paint: Paint): string =>
  fields(
    [
      ['Karma', view.enabled ? good('enabled') : warning('disabled')],
      ['Share of profit', `${(view.percentage * 100).toFixed(4)} %`],
      ['Address', view.treasury_address === '' ? bad('none: nothing is owed') : view.treasury_address],
      ['Waiting', `${usd(view.pending_usd)} in ${view.pending_intents} intents`],
      ['Settled', `${usd(view.settled_usd)} in ${view.receipts} receipts`],
    ],
    paint,
  )

export const intentsTable = (intents: readonly ShareAccrualView[], paint: Paint): string =>
  table(INTENT_COLUMNS, intents.map(intentRow), paint)

export const receiptsTable = (receipts: readonly ReceiptView[], paint: Paint): string =>
  table(RECEIPT_COLUMNS, receipts.map(receiptRow), paint)

export const settlementText = ({ receipt, skipped }: SettlementView, paint: Paint): string =>
  fields(
    [
      ['Receipt', receipt.id],
      ['Intents', String(receipt.intent_ids.length)],
      ['Total', usd(receipt.total_usd)],
      ['To', receipt.destination_wallet],
      ['Status', receipt.status],
      ...skipped.map(({ id, reason }): readonly [string, Cell] => ['Left out', warning(`${id}: ${reason}`)]),
    ],
    paint,
  )

const INTENT_COLUMNS = [
  { title: 'Created' },
  { title: 'Amount', align: 'right' },
  { title: 'Profit', align: 'right' },
  { title: 'Mode' },
  { title: 'Contributors' },
  { title: 'Intent' },
] as const

const intentRow = (intent: ShareAccrualView): readonly Cell[] => [
  intent.created_at,
  usd(intent.karma_amount_usd),
  usd(intent.realized_pnl_usd),
  intent.mode,
  intent.contributors.length === 0
    ? quiet('none')
    : intent.contributors.map(({ node_id, share }) => `${node_id} ${(share * 100).toFixed(1)} %`).join(', '),
  intent.id,
]

const RECEIPT_COLUMNS = [
  { title: 'Created' },
  { title: 'Total', align: 'right' },
  { title: 'Intents', align: 'right' },
  { title: 'Status' },
  { title: 'Mode' },
  { title: 'Transaction' },
  { title: 'Receipt' },
] as const

const receiptRow = (receipt: ReceiptView): readonly Cell[] => [
  receipt.created_at,
  usd(receipt.total_usd),
  String(receipt.intent_ids.length),
  receipt.status,
  receipt.mode,
  receipt.tx_hash ?? quiet('none'),
  receipt.id,
]

const usd = (value: number): string => `${value.toFixed(6)} USD`
