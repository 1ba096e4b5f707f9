import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OPERATOR_TOKEN } from '../test-server.fixture.ts'
import { INTENT_IDS, startTrading } from '../trading.fixture.ts'

type Trading = Awaited<ReturnType<typeof startTrading>>

let server: Trading
beforeEach(async () => {
  server = await startTrading()
})
afterEach(() => server.close())

const listed = async (path: string) => (await server.call('GET', path)).body as unknown as object[]
const post = (path: string, json?: object) => server.call('POST', path, json === undefined ? {} : { json })
const headSeq = async () => (await server.log.head()).seq

describe('GET /portfolio', () => {
  it('shows the account before and after a trade, beside its limits', async () => {
    expect((await server.call('GET', '/portfolio')).body).toMatchObject({
      as_of: '2026-02-20T00:30:00.000Z',
      mode: 'paper',
      equity_usd: 10_000,
      cash_usd: 10_000,
      open_positions: 0,
      heat: 0,
      limits: { max_leverage: 2, l2_loss_streak: 3 },
    })
    await server.open(INTENT_IDS.BTC)
    const { body } = await server.call('GET', '/portfolio')
    const { equity_usd, cash_usd, unrealized_pnl_usd, fees_usd } = body as Record<string, number>
    expect(body).toMatchObject({ open_positions: 1, peak_equity_usd: 10_000, day_start_equity_usd: 10_000 })
    expect(fees_usd).toBeGreaterThan(0)
    expect(cash_usd).toBeCloseTo(10_000 - (fees_usd ?? 0), 6)
    expect(equity_usd).toBeCloseTo((cash_usd ?? 0) + (unrealized_pnl_usd ?? 0), 6)
    expect(body['drawdown']).toBeGreaterThan(0)
    expect(body['heat']).toBeGreaterThan(0)
    const { text } = await server.callRoot('GET', '/metrics')
    expect(text).toContain(`\nsvc_equity_usd ${equity_usd}\n`)
    expect(text).toContain('\nsvc_open_positions 1\n')
  })
})

describe('GET /portfolio/history', () => {
  it('is flat without trades, and ends with the equity of now', async () => {
    const { body } = await server.call('GET', '/portfolio/history?hours=1')
    const { as_of, points } = body as { as_of: string; points: { ts: string; equity_usd: number }[] }
    expect(points).toHaveLength(241)
    expect(new Set(points.map(({ equity_usd }) => equity_usd))).toEqual(new Set([10_000]))
    expect(points.at(-1)?.ts).toBe(as_of)
    await server.open(INTENT_IDS.BTC)
    const later = (await server.call('GET', '/portfolio/history')).body as { points: typeof points }
    const { body: portfolio } = await server.call('GET', '/portfolio')
    expect(later.points.at(-1)?.equity_usd).toBeCloseTo(Number(portfolio['equity_usd']), 2)
    expect(later.points[0]?.equity_usd).toBe(10_000)
  })

  it('refuses an impossible range', async () => {
    for (const hours of [0, 721, 'x'])
      expect((await server.call('GET', `/portfolio/history?hours=${hours}`)).status).toBe(422)
  })
})

describe('intents', () => {
  it('are listed newest first, by status, as many as wanted', async () => {
    const ids = async (query: string) =>
      (await listed(`/intents${query}`)).map((intent) => (intent as { intent_id: string }).intent_id)
    expect(await ids('')).toEqual([INTENT_IDS.SOL, INTENT_IDS.ETH, INTENT_IDS.BTC])
    expect(await ids('?limit=1')).toEqual([INTENT_IDS.SOL])
    await server.open(INTENT_IDS.ETH)
    expect(await ids('?status=filled')).toEqual([INTENT_IDS.ETH])
    expect(await ids('?status=awaiting_approval')).toEqual([INTENT_IDS.SOL, INTENT_IDS.BTC])
  })

  it('are executed when they are approved, once', async () => {
    const { status, body } = await post(`/intents/${INTENT_IDS.BTC}/approve`, { note: ' fine ' })
    expect([status, body]).toMatchObject([200, { status: 'filled', approved: true, reasons: [] }])
    expect(await listed('/positions')).toMatchObject([{ id: body['position_id'], asset: 'BTC' }])
    expect(await listed('/orders')).toMatchObject([
      { order_id: body['order_id'], status: 'filled', side: 'buy', reduce_only: false, fills: 1 },
    ])
    expect(await listed('/orders?status=canceled')).toEqual([])
    const [approved] = await server.log.read({
      types: ['execution.intent_approved'],
      order: 'asc',
      limit: 9,
    })
    expect(JSON.parse(approved?.payload ?? '')).toEqual({
      intent_id: INTENT_IDS.BTC,
      approved_by: server.engine.nodeId,
      note: 'fine',
    })
    expect(await post(`/intents/${INTENT_IDS.BTC}/approve`)).toMatchObject({
      status: 409,
      body: { code: 'intent.not_awaiting', intent_status: 'filled' },
    })
  })

  it('end when they are denied', async () => {
    const { status, body } = await post(`/intents/${INTENT_IDS.BTC}/deny`)
    expect([status, body]).toMatchObject([200, { status: 'rejected', reasons: ['approval_denied'] }])
    expect((await post(`/intents/${INTENT_IDS.BTC}/deny`)).body['code']).toBe('intent.not_awaiting')
  })

  it('that nobody knows are not found', async () => {
    for (const verdict of ['approve', 'deny']) {
      expect(await post(`/intents/none/${verdict}`)).toMatchObject({
        status: 404,
        body: { code: 'intent.not_found', intent_id: 'none' },
      })
    }
  })

  it('are not approved in a crisis, and the attempt is audited', async () => {
    await post('/kill-switch', { level: 2, reason: 'x' })
    const { status, body } = await post(`/intents/${INTENT_IDS.BTC}/approve`)
    expect([status, body['code']]).toEqual([423, 'kill_switch.active'])
    expect((await server.auditEntries()).at(-1)).toMatchObject({
      resource: `/intents/${INTENT_IDS.BTC}/approve`,
      outcome: 'denied',
      reason: 'kill_switch_active',
    })
  })
})

describe('closing', () => {
  it('ends a position at every level, once', async () => {
    const id = await server.open(INTENT_IDS.BTC)
    await post('/kill-switch', { level: 3, reason: 'x' })
    const { status, body } = await post(`/positions/${id}/close`)
    expect([status, body]).toMatchObject([200, { id, status: 'closed', exit_reason: 'manual' }])
    expect(await post(`/positions/${id}/close`)).toMatchObject({
      status: 409,
      body: { code: 'position.not_open', position_status: 'closed' },
    })
    const unknown = await post('/positions/none/close')
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Position not found' }])
  })

  it('needs a price', async () => {
    const id = await server.open(INTENT_IDS.BTC)
    server.testClock.advance(86_400_000)
    expect(await post(`/positions/${id}/close`)).toMatchObject({
      status: 409,
      body: { code: 'price.unavailable', position_id: id },
    })
    expect((await post('/positions/close-all')).body).toEqual({
      positions: [],
      failed: [{ symbol: 'BTC', position_id: id, reasons: ['no_price'] }],
    })
  })

  it('of all ends all, and its reason stands in the audit', async () => {
    const ids = [await server.open(INTENT_IDS.BTC), await server.open(INTENT_IDS.ETH)]
    const { status, body } = await post('/positions/close-all', { reason: ' incident ' })
    const closed = body['positions'] as readonly { id: string; status: string }[]
    expect([status, body['failed']]).toEqual([200, []])
    expect(closed.map((position) => position.id).toSorted()).toEqual(ids.toSorted())
    expect(new Set(closed.map((position) => position.status))).toEqual(new Set(['closed']))
    expect((await server.auditEntries()).at(-1)).toMatchObject({
      resource: '/positions/close-all',
      outcome: 'allowed',
      reason: 'incident',
    })
    const seq = await headSeq()
    expect((await post('/positions/close-all')).body).toEqual({ positions: [], failed: [] })
    expect(await headSeq()).toBe(seq)
  })
})

describe('the operator token', () => {
  it('is asked for once it is set', async () => {
    await server.close()
    server = await startTrading({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    const id = await server.open(INTENT_IDS.BTC)
    for (const path of [
      `/intents/${INTENT_IDS.ETH}/approve`,
      `/intents/${INTENT_IDS.ETH}/deny`,
      `/positions/${id}/close`,
      '/positions/close-all',
    ]) {
      expect([path, (await post(path)).status]).toEqual([path, 403])
    }
    const { status } = await server.call('POST', `/positions/${id}/close`, { token: OPERATOR_TOKEN })
    expect(status).toBe(200)
  })
})
