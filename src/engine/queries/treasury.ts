import type { TreasuryState, SettlementReceipt } from '../../core/treasury/evolve.ts'
import { receiptIdOf, type SettlementRequest, type SettlementStatus } from '../../core/treasury/settle.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { viewReceipts, type ReceiptView } from '../../core/views/treasury.ts'
import { isPlainText } from '../../core/shared/text.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { sha256Hex } from '../sha256.ts'
import { oldestAbout, soundEvents } from './sound-events.ts'

const RECEIPT = 'karma.receipt'
const PAGE = 500

/** Receipts from the log, newest first. Memory keeps only the latest. */
export const karmaReceipts = async (
  log: EventLog,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<ReceiptView[]> => {
  const found: LogRecord[] = []
  const query = { types: [RECEIPT], order: 'desc', limit: Math.min(offset + limit, PAGE) } as const
  let passed = 0
  for await (const page of readPages(log, query)) {
    found.push(...page.slice(Math.max(0, offset - passed)))
    passed += page.length
    if (found.length >= limit) break
  }
  const wanted = found.slice(0, limit)
  return viewReceipts(
    wanted.flatMap((record) => soundEvents(record, 'karma.receipt.v1').map(({ payload }) => payload)),
  )
}

/** Facts of the log about a settlement request. Pending intents were never settled and need no lookup. */
export const settlementStatus = async (
  log: EventLog,
  { pending }: Pick<TreasuryState, 'pending'>,
  { intentIds, txHash }: SettlementRequest,
): Promise<SettlementStatus> => {
  const asked = [...new Set(intentIds)].filter((id) => isPlainText(id) && !pending.has(id))
  const isSettled = await Promise.all(asked.map((id) => isAbout(log, id)))
  return {
    isRepeated: await isAbout(log, receiptIdOf(intentIds, txHash, sha256Hex)),
    settledIds: asked.filter((_id, index) => isSettled[index] === true),
  }
}

/** Result of a settlement request that was made before; null if it was not. */
export const settlementOf = async (
  log: EventLog,
  { receipts }: Pick<TreasuryState, 'receipts'>,
  { intentIds, txHash }: SettlementRequest,
): Promise<SettlementReceipt | null> => {
  const id = receiptIdOf(intentIds, txHash, sha256Hex)
  const remembered = receipts.get(id)
  if (remembered !== undefined) return remembered
  const [[receipt], [settlement]] = await Promise.all([
    oldestAbout(log, id, 'karma.receipt.v1', 1),
    oldestAbout(log, id, 'karma.settlement.v1', 1),
  ])
  if (receipt === undefined) return null
  return { receipt: receipt.payload, skipped: settlement?.payload.skipped ?? [] }
}

const isAbout = async (log: EventLog, id: string): Promise<boolean> =>
  (await log.read({ about: id, types: [RECEIPT], order: 'asc', limit: 1 })).length > 0
