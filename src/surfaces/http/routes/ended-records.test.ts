import { orderId, positionId as positionIdOf, intentId } from '../../../core/shared/brand.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendTo, type Said } from '../../../../test/records.fixture.ts'
import { barAt } from '../../../core/market/bars.fixture.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { expectProblem } from '../expectations.fixture.ts'
import { INTENT_IDS, startTrading } from '../trading.fixture.ts'

/** More than memory keeps of ended positions, orders and intents. */
const LATER_TRADES = 2_010

let server: Awaited<ReturnType<typeof startTrading>>
let positionId: string
let before: { readonly position: unknown; readonly orders: readonly { readonly order_id: string }[] }

beforeAll(async () => {
  server = await startTrading()
  positionId = await server.open(INTENT_IDS.BTC)
  const bars = [barAt('2026-02-20T00:30:00.000Z', 101, { symbol: 'BTC' })]
  server.testClock.advance(120_000)
  await server.engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
  await server.call('POST', `/positions/${positionId}/close`)
  before = {
    position: (await server.call('GET', `/positions/${positionId}`)).body,
    orders: (await server.call('GET', '/orders')).body as unknown as typeof before.orders,
  }
  await repeatTrade()
})

afterAll(() => server.close())

/** Stores copies of a trade under other ids, which sort behind the first. */
const repeatTrade = async (): Promise<void> => {
  const { log } = server
  const intent = await log.get(INTENT_IDS.BTC)
  const about = await log.read({ about: positionId, types: ['execution'], order: 'asc', limit: 100 })
  const approval = await log.read({
    about: INTENT_IDS.BTC,
    types: ['execution.intent_approved'],
    order: 'asc',
    limit: 1,
  })
  const trade = [...(intent === null ? [] : [intent]), ...approval, ...about]
  const ids = [INTENT_IDS.BTC, positionId, ...before.orders.map(({ order_id: id }) => id)]
  const { recordedAt, seq: headSeq } = await log.head()
  const copyOf = (seq: number): Said => {
    const index = seq - headSeq - 1
    const record = trade[index % trade.length]
    if (record === undefined) throw new Error('the trade left no events')
    const suffix = `-${String(Math.floor(index / trade.length)).padStart(6, '0')}`
    const payload = ids.reduce((text, id) => text.replaceAll(`"${id}"`, `"${id}${suffix}"`), record.payload)
    const id = record.id === INTENT_IDS.BTC ? { id: `${record.id}${suffix}` } : {}
    const { type, source, ts } = record
    return { type, source, ts, recordedAt, payload: JSON.parse(payload) as JsonObject, ...id }
  }
  await appendTo(log, trade.length * LATER_TRADES, copyOf)
}

describe('what memory has let go of', () => {
  it('is no longer in memory', async () => {
    const { positions, orders, intents } = (await server.engine.fresh()).trading
    expect(positions.has(positionIdOf(positionId))).toBe(false)
    for (const { order_id: id } of before.orders) expect(orders.ended.has(orderId(id))).toBe(false)
    expect(before.orders).toHaveLength(2)
    expect(intents.has(intentId(INTENT_IDS.BTC))).toBe(false)
  })

  it('is read from the log: a position', async () => {
    const read = await server.call('GET', `/positions/${positionId}`)
    expect(read.status).toBe(200)
    expect(read.body).toEqual(before.position)
    expect(read.body).toMatchObject({ status: 'closed', mark_price: 101 })
  })

  it('is refused as ended, not as unknown', async () => {
    const closed = await server.call('POST', `/positions/${positionId}/close`)
    expectProblem(closed, 'position.not_open', 409)
    expect(closed.body).toMatchObject({ position_id: positionId, position_status: 'closed' })
    for (const { order_id: id } of before.orders) {
      const canceled = await server.call('POST', `/orders/${id}/cancel`)
      expectProblem(canceled, 'order.not_open', 409)
      expect(canceled.body).toMatchObject({ order_id: id, order_status: 'filled' })
    }
    for (const decision of ['approve', 'deny']) {
      const decided = await server.call('POST', `/intents/${INTENT_IDS.BTC}/${decision}`)
      expectProblem(decided, 'intent.not_awaiting', 409)
      expect(decided.body).toMatchObject({ intent_id: INTENT_IDS.BTC, intent_status: 'filled' })
    }
  })

  it('is refused as ended by the tools of agents', async () => {
    const { body } = await server.call('POST', '/mcp', {
      json: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'close_position', arguments: { position_id: positionId } },
      },
    })
    expect(body).toMatchObject({ result: { structuredContent: { error: 'position_not_open' } } })
  })

  it('is not mixed up with what never was', async () => {
    expect((await server.call('GET', '/positions/none')).status).toBe(404)
    expect((await server.call('GET', `/positions/${INTENT_IDS.BTC}`)).status).toBe(404)
    expectProblem(await server.call('POST', '/orders/none/cancel'), 'order.not_found', 404)
    expectProblem(await server.call('POST', `/orders/${positionId}/cancel`), 'order.not_found', 404)
    expectProblem(await server.call('POST', `/intents/${positionId}/approve`), 'intent.not_found', 404)
  })
})
