import { accrualId } from '../../../core/shared/brand.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { RECEIPTS_KEPT } from '../../../core/treasury/evolve.ts'
import { receiptIdOf } from '../../../core/treasury/settle.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { startTrading } from '../trading.fixture.ts'

const CREATED = '2026-02-19T00:00:00.000Z'
const wallet = { destination_wallet: '0xabc', tx_hash: null, mode: 'paper' } as const

const intentOf = (name: string) => ({
  intent_id: name,
  trade_id: `trade of ${name}`,
  node_id: 'svc-1',
  realized_pnl_usd: 20,
  karma_percentage: 0.005,
  karma_amount_usd: 0.1,
  contributors: [],
  mode: 'paper',
  signature_b64: '',
  created_at: CREATED,
})

const settlementOf = (name: string) => ({
  receipt_id: receiptIdOf([accrualId(name), accrualId('x')], null, sha256Hex),
  requested_ids: [name, 'x'],
  intent_ids: [name],
  skipped: [{ id: 'x', reason: 'unknown' }],
  total_usd: 0.1,
  ...wallet,
  karma_percentage: 0.005,
})

const receiptOf = (name: string) => ({
  receipt_id: receiptIdOf([accrualId(name), accrualId('x')], null, sha256Hex),
  intent_ids: [name],
  total_usd: 0.1,
  ...wallet,
  status: 'pending',
  node_id: 'svc-1',
  signature_b64: '',
  created_at: CREATED,
})

const SETTLED = RECEIPTS_KEPT + 2
const HISTORY = [
  { type: 'karma.intent.v1', payloadOf: intentOf },
  { type: 'karma.settlement.v1', payloadOf: settlementOf },
  { type: 'karma.receipt.v1', payloadOf: receiptOf },
] as const

let server: Awaited<ReturnType<typeof startTrading>>
beforeAll(async () => {
  const log = new MemoryLog()
  await appendTo(log, 3 * SETTLED, (seq) => {
    const { type, payloadOf } = HISTORY[(seq - 1) % 3] ?? HISTORY[0]
    return { type, source: 'karma', payload: payloadOf(`i${Math.floor((seq - 1) / 3)}`) }
  })
  server = await startTrading({ log, settings: { karma: { treasury_address: '0xabc' } } })
})
afterAll(() => server.close())

const settle = (intent_ids: readonly string[], tx_hash: string | null = null) =>
  server.call('POST', '/karma/settle', { json: { intent_ids, tx_hash } })
const settledBy = async (query: string): Promise<readonly string[]> => {
  const items = (await server.call('GET', `/karma/receipts${query}`)).body['items']
  return (items as readonly { readonly intent_ids: readonly string[] }[]).flatMap((one) => one.intent_ids)
}
const namesFrom = (first: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `i${first - index}`)

describe('settlements that memory has let go', () => {
  it('are counted, and answered as they were the first time', async () => {
    expect(server.engine.state.treasury.receipts.size).toBe(RECEIPTS_KEPT)
    expect(server.engine.state.treasury.receiptOfIntent.size).toBe(RECEIPTS_KEPT)
    expect((await server.call('GET', '/treasury')).body).toMatchObject({ receipts: SETTLED, pending_usd: 0 })
    const { seq } = await server.log.head()
    const { receipt_id: id, ...receipt } = receiptOf('i0')
    expect((await settle(['x', 'i0'])).body).toEqual({
      receipt: { id, ...receipt },
      skipped: [{ id: 'x', reason: 'unknown' }],
    })
    expect((await server.log.head()).seq).toBe(seq)
  })

  it('are not made again', async () => {
    const again = await settle(['i0', 'i1', 'y'], '0xfeed')
    expectProblem(again, 'karma.settlement_rejected', 400)
    expect(again.body['skipped']).toEqual([
      { id: 'i0', reason: 'already_settled' },
      { id: 'i1', reason: 'already_settled' },
      { id: 'y', reason: 'unknown' },
    ])
  })

  it('are listed page by page, newest first', async () => {
    expect((await settledBy('')).toSorted()).toEqual(namesFrom(SETTLED - 1, 500).toSorted())
    expect(await settledBy(`?limit=1&offset=${SETTLED - 1}`)).toEqual(['i0'])
    expect(await settledBy(`?limit=1&offset=501`)).toEqual([`i${SETTLED - 502}`])
    expect(await settledBy(`?offset=${SETTLED}`)).toEqual([])
    expectFault(await server.call('GET', '/karma/receipts?limit=501'), ['query', 'limit'], 'less_than_equal')
  })
})
