import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { type Price, type Quantity } from '../../../core/shared/money.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OPERATOR_TOKEN } from '../test-server.fixture.ts'
import { INTENT_IDS, startTrading } from '../trading.fixture.ts'

type Trading = Awaited<ReturnType<typeof startTrading>>

let server: Trading
afterEach(() => server.close())

const post = (path: string, json?: object, token?: string) =>
  server.call('POST', path, {
    ...(json === undefined ? {} : { json }),
    ...(token === undefined ? {} : { token }),
  })
const orders = async () => (await server.call('GET', '/orders')).body as unknown as Record<string, string>[]
const stored = async (type: string) =>
  (await server.log.read({ order: 'asc', limit: 1000 }))
    .filter((record) => record.type === type)
    .map(({ payload }) => JSON.parse(payload))

describe('GET /live', () => {
  beforeEach(async () => {
    server = await startTrading()
  })

  it('says why nothing real is sent', async () => {
    expect((await server.call('GET', '/live')).body).toMatchObject({
      mode: 'paper',
      venue: null,
      sends_entries: false,
      held_back_by: ['mode_paper', 'no_venue'],
      unknown_orders: [],
    })
  })

  it('is resumed only where entries are held back, and by an operator', async () => {
    expect((await post('/live/resume', { reason: 'looked at it' })).body).toMatchObject({
      code: 'live.not_reduce_only',
    })
    expect((await post('/live/resume')).status).toBe(422)
    await server.engine.execute({
      kind: 'compare-account',
      sweep: {
        venue: 'v',
        quietSymbols: [canonicalSymbol('BTC')],
        liquidations: [],
        positions: [
          {
            symbol: 'BTC',
            direction: 'long',
            quantity: 1n as Quantity,
            entryPrice: 100n as Price,
            leverage: 1,
          },
        ],
      },
    })
    const { body } = await server.call('GET', '/live')
    expect(body).toMatchObject({
      reduce_only: { reason: expect.any(String) },
      adopted_positions: [expect.any(String)],
    })
    expect(await server.call('GET', '/positions')).toMatchObject({
      body: [{ adopted: true, conviction_id: null }],
    })
    expect((await post('/live/resume', { reason: 'mine' })).body).toMatchObject({ reduce_only: null })
    expect((await stored('system.audit.v1')).at(-1)).toMatchObject({
      resource: '/live/resume',
      outcome: 'allowed',
    })
    expect(await stored('execution.reduce_only.v1')).toMatchObject([
      { active: true, set_by: null },
      { active: false, reason: 'mine', set_by: server.engine.nodeId },
    ])
  })
})

describe('POST /orders/{order_id}/cancel', () => {
  it('gives up what is left of an order, once', async () => {
    server = await startTrading({ settings: { execution: { paper_partial_fills: true } } })
    await post(`/intents/${INTENT_IDS.BTC}/approve`)
    const [order] = await orders()
    const path = `/orders/${order?.['order_id']}/cancel`
    const { status, body } = await post(path, { reason: 'too slow' })
    expect([status, body]).toMatchObject([200, { status: 'canceled', filled_quantity: 0 }])
    expect(await stored('execution.order_canceled.v1')).toMatchObject([{ reason: 'too slow' }])
    expect((await stored('system.audit.v1')).at(-1)).toMatchObject({ outcome: 'allowed', action: 'write' })
    expect((await post(path)).body).toMatchObject({ code: 'order.not_open', order_status: 'canceled' })
    expect((await post('/orders/none/cancel')).body).toMatchObject({ code: 'order.not_found' })
  })

  it('is for operators', async () => {
    server = await startTrading({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    expect((await post('/orders/none/cancel')).status).toBe(403)
    expect((await post('/orders/none/cancel', undefined, OPERATOR_TOKEN)).status).toBe(404)
    expect((await post('/live/resume', { reason: 'x' })).status).toBe(403)
  })
})

describe('closing by hand', () => {
  it('says who did it and why', async () => {
    server = await startTrading()
    const id = await server.open(INTENT_IDS.BTC)
    await post(`/positions/${id}/close`, { reason: 'exchange incident' })
    expect(await stored('execution.position_closed.v1')).toMatchObject([
      { closed_by: server.engine.nodeId, note: 'exchange incident', exit_reason: 'manual' },
    ])
  })
})
