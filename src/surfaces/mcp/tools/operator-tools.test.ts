import { intentId, positionId } from '../../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OPERATOR_TOKEN } from '../../http/test-server.fixture.ts'
import { INTENT_IDS, startTrading } from '../../http/trading.fixture.ts'
import { callersOf, resultOf } from '../caller.fixture.ts'
import { issueConfirmation, useConfirmation } from './confirmation.ts'

type Trading = Awaited<ReturnType<typeof startTrading>>

let server: Trading
beforeEach(async () => {
  server = await startTrading()
})
afterEach(() => server.close())

const call = async (name: string, args: object, headers: Readonly<Record<string, string>> = {}) =>
  resultOf(await callersOf(server).tool(name, args, headers))
const codeFor = async (name: string, args: object) =>
  (await call(name, args)).structuredContent['confirm'] as string
const typesIn = (events: unknown) => (events as readonly { type: string }[]).map(({ type }) => type)
const headSeq = async () => (await server.log.head()).seq

describe('get_portfolio', () => {
  it('says what GET /portfolio says', async () => {
    const { value, isError } = await call('get_portfolio', {})
    expect([value, isError]).toEqual([(await server.call('GET', '/portfolio')).body, false])
  })
})

describe.each([
  ['get_weights', '/learning/weights?limit=5'],
  ['get_treasury', '/treasury'],
  ['get_symbols', '/symbols'],
  ['get_prices', '/prices'],
  ['get_orders', '/orders'],
  ['get_intents', '/intents'],
  ['get_alerts', '/alerts'],
])('%s', (tool, path) => {
  it(`says what GET ${path} says`, async () => {
    await server.open(INTENT_IDS.BTC)
    await server.call('POST', '/learning/run')
    const { value, isError } = await call(tool, {})
    expect([value, isError]).toEqual([(await server.call('GET', path)).body, false])
  })
})

describe('get_bars', () => {
  it('says what GET /bars says of one symbol, and knows no other', async () => {
    const { value } = await call('get_bars', { symbol: 'BTC' })
    expect(value).toMatchObject([{ symbol: 'BTC', close: 100 }])
    expect(value).toEqual((await server.call('GET', '/bars?symbol=BTC')).body)
    expect((await call('get_bars', { symbol: 'BTC', to: '2020-01-01T00:00:00Z' })).value).toEqual([])
    expect((await call('get_bars', { symbol: 'NOPE' })).value).toEqual({
      error: 'symbol_not_found',
      symbol: 'NOPE',
    })
  })
})

describe('a tool for operators', () => {
  it('first says what would happen and changes nothing, then does it', async () => {
    const position_id = await server.open(INTENT_IDS.BTC)
    const seq = await headSeq()
    const asked = await call('close_position', { position_id })
    expect(asked).toMatchObject({
      isError: false,
      value: { status: 'confirmation_required', expires_at: '2026-02-20T00:31:00.000Z' },
    })
    const would = typesIn(asked.structuredContent['would_store'])
    expect(would).toContain('execution.position_closed.v1')
    expect(await headSeq()).toBe(seq)

    const { confirm } = asked.structuredContent
    const done = await call('close_position', { position_id, confirm })
    expect(done).toMatchObject({ isError: false, value: { status: 'done' } })
    expect(typesIn(done.structuredContent['stored'])).toEqual(would)
    expect(server.engine.state.trading.positions.get(positionId(position_id))?.status).toBe('closed')
    expect((await server.auditEntries()).at(-1)).toMatchObject({ resource: '/mcp', outcome: 'allowed' })
    expect(await call('close_position', { position_id, confirm })).toMatchObject({
      isError: true,
      value: { error: 'confirmation_used' },
    })
    expect((await call('close_position', { position_id })).value).toMatchObject({
      error: 'position_not_open',
    })
  })

  it('has to be confirmed again for a position that has grown meanwhile, or is being closed', async () => {
    const position_id = await server.open(INTENT_IDS.BTC)
    const id = positionId(position_id)
    const { state } = server.engine
    const about = { tool: 'close_position', arguments: { position_id } }
    const code = issueConfirmation(about, state, 2000)
    const position = state.trading.positions.get(id)!
    const quantity = ((position.holding.quantity * 3n) / 2n) as typeof position.holding.quantity
    const grown = { ...position, holding: { ...position.holding, quantity } }
    const positions = state.trading.positions.set(id, grown)
    const after = { ...state, trading: { ...state.trading, positions } }
    expect(useConfirmation(code, about, after, 1000)).toEqual({ status: 'stale' })
    const closing = state.trading.positions.set(id, {
      ...position,
      status: 'closing',
    } as unknown as typeof position)
    const leaving = { ...state, trading: { ...state.trading, positions: closing } }
    expect(useConfirmation(code, about, leaving, 1000)).toEqual({ status: 'stale' })
    expect(useConfirmation(code, about, state, 1000)).toMatchObject({ status: 'valid' })
  })

  it('approves and denies intents', async () => {
    const approval = { intent_id: INTENT_IDS.BTC, note: 'fine' }
    const confirm = await codeFor('approve_intent', approval)
    const { structuredContent } = await call('approve_intent', { ...approval, confirm })
    expect(typesIn(structuredContent['stored'])).toContain('execution.position_opened.v1')
    const denial = { intent_id: INTENT_IDS.ETH }
    await call('deny_intent', { ...denial, confirm: await codeFor('deny_intent', denial) })
    expect(server.engine.state.trading.intents.get(intentId(INTENT_IDS.ETH))).toMatchObject({
      status: 'rejected',
      reasons: ['approval_denied'],
    })
  })

  it('closes everything and stops the engine, in the log under the reason that was given', async () => {
    const ids = [await server.open(INTENT_IDS.BTC), await server.open(INTENT_IDS.ETH)]
    const everything = { reason: 'the exchange is down' }
    await call('close_all_positions', {
      ...everything,
      confirm: await codeFor('close_all_positions', everything),
    })
    for (const id of ids)
      expect(server.engine.state.trading.positions.get(positionId(id))?.status).toBe('closed')
    const closed = await server.log.read({
      types: ['execution.position_closed'],
      order: 'asc',
      limit: 10,
    })
    for (const { payload } of closed) expect(JSON.parse(payload)).toMatchObject({ note: everything.reason })
    for (const level of [3, 0]) {
      const move = { level, reason: `now ${level}` }
      const asked = await call('set_kill_switch', move)
      expect(typesIn(asked.structuredContent['would_store'])).toContain('system.kill_switch.v1')
      const { confirm } = asked.structuredContent
      expect((await call('set_kill_switch', { ...move, level: 1, confirm })).isError).toBe(true)
      expect((await call('set_kill_switch', { ...move, confirm })).value).toMatchObject({ status: 'done' })
      expect((await server.call('GET', '/kill-switch')).body).toMatchObject({
        ...move,
        changed_by: expect.any(String),
      })
    }
    expect((await server.auditEntries()).at(-1)).toMatchObject({ resource: '/mcp', outcome: 'allowed' })
  })

  it('refuses a code that was given for another tool or for other arguments', async () => {
    const args = { intent_id: INTENT_IDS.BTC, note: 'fine' }
    const confirm = await codeFor('approve_intent', args)
    const seq = await headSeq()
    for (const [name, wrong] of [
      ['deny_intent', { ...args, confirm }],
      ['approve_intent', { ...args, intent_id: INTENT_IDS.ETH, confirm }],
      ['approve_intent', { ...args, note: 'other', confirm }],
      ['approve_intent', { intent_id: INTENT_IDS.BTC, confirm }],
      ['approve_intent', { ...args, confirm: `${confirm}x` }],
      ['approve_intent', { ...args, confirm: 'constructor' }],
      ['approve_intent', { ...args, confirm: `${confirm.slice(0, -1)}x` }],
      ['approve_intent', { ...args, confirm: '' }],
    ] as const) {
      const { value, isError } = await call(name, wrong)
      expect([isError, value], JSON.stringify(wrong)).toMatchObject([true, { error: 'confirmation_invalid' }])
    }
    expect(await headSeq()).toBe(seq)
  })

  it('refuses a code after a minute', async () => {
    const args = { intent_id: INTENT_IDS.BTC }
    const confirm = await codeFor('deny_intent', args)
    server.testClock.advance(60_000)
    expect((await call('deny_intent', { ...args, confirm })).value).toMatchObject({
      error: 'confirmation_expired',
    })
    server.testClock.advance(-1)
    expect((await call('deny_intent', { ...args, confirm })).value).toMatchObject({ status: 'done' })
  })

  it('takes a code once, also when it is sent twice at the same time', async () => {
    const move = { level: 1, reason: 'news' }
    const confirm = await codeFor('set_kill_switch', move)
    const twice = await Promise.all([1, 2, 3].map(() => call('set_kill_switch', { ...move, confirm })))
    expect(twice.filter(({ isError }) => !isError)).toHaveLength(1)
    const others = twice.filter(({ isError }) => isError).map(({ value }) => value)
    expect(others).toMatchObject([{ error: 'confirmation_used' }, { error: 'confirmation_used' }])
    const changes = await server.log.read({ types: ['system.kill_switch'], order: 'asc', limit: 10 })
    expect(changes).toHaveLength(1)
  })

  it('gives every call a code of its own', async () => {
    const move = { level: 1, reason: 'news' }
    expect(await codeFor('set_kill_switch', move)).not.toBe(await codeFor('set_kill_switch', move))
  })

  it('refuses a code once the kill switch was moved', async () => {
    const lower = { level: 0, reason: 'all clear' }
    await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    const confirm = await codeFor('set_kill_switch', lower)
    await server.call('POST', '/kill-switch', { json: { level: 3, reason: 'worse' } })
    expect(await call('set_kill_switch', { ...lower, confirm })).toMatchObject({
      isError: true,
      value: { error: 'confirmation_stale' },
    })
    expect((await server.call('GET', '/kill-switch')).body).toMatchObject({ level: 3 })
    // The level changed and came back to 3. The code is stale all the same.
    const again = await codeFor('set_kill_switch', lower)
    server.testClock.advance(1)
    await server.call('POST', '/kill-switch', { json: { level: 2, reason: 'better' } })
    await server.call('POST', '/kill-switch', { json: { level: 3, reason: 'worse again' } })
    expect((await call('set_kill_switch', { ...lower, confirm: again })).value).toMatchObject({
      error: 'confirmation_stale',
    })
  })

  it('refuses a code if the kill switch is raised between its check and the decision', async () => {
    const lower = { level: 0, reason: 'all clear' }
    await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    const confirm = await codeFor('set_kill_switch', lower)
    const { engine } = server
    const execute = engine.execute.bind(engine)
    const move = { level: 3, reason: 'worse', operator: 'somebody', surface: 'api' } as const
    engine.execute = (command, options) => {
      engine.execute = execute
      // The raise is first in the queue, so that both commands are decided in one batch.
      const raised = execute({ kind: 'set-kill-switch', move })
      const lowered = execute(command, options)
      return raised.then(() => lowered)
    }
    expect((await call('set_kill_switch', { ...lower, confirm })).value).toMatchObject({
      error: 'confirmation_stale',
      detail: expect.stringContaining('call again without confirm'),
    })
    expect((await server.call('GET', '/kill-switch')).body).toMatchObject({ level: 3 })
  })

  it('refuses a code once what it is about has changed', async () => {
    const btc = await server.open(INTENT_IDS.BTC)
    const all = { reason: 'out' }
    const confirmAll = await codeFor('close_all_positions', all)
    const one = { position_id: btc }
    const confirmOne = await codeFor('close_position', one)
    await server.open(INTENT_IDS.ETH)
    expect((await call('close_all_positions', { ...all, confirm: confirmAll })).value).toMatchObject({
      error: 'confirmation_stale',
    })
    // A change of another position does not invalidate the code.
    expect((await call('close_position', { ...one, confirm: confirmOne })).value).toMatchObject({
      status: 'done',
    })
  })

  it('says why a call is refused by now, in place of a code that is stale', async () => {
    const btc = await server.open(INTENT_IDS.BTC)
    const confirm = await codeFor('close_position', { position_id: btc })
    await server.call('POST', `/positions/${btc}/close`, { json: {} })
    expect((await call('close_position', { position_id: btc, confirm })).value).toMatchObject({
      error: 'position_not_open',
    })
  })

  it('says at once what cannot be done', async () => {
    expect((await call('close_position', { position_id: 'none' })).value).toMatchObject({
      error: 'position_not_found',
    })
    expect((await call('deny_intent', { intent_id: 'none' })).value).toMatchObject({
      error: 'intent_not_found',
    })
    const args = { intent_id: INTENT_IDS.BTC }
    const confirm = await codeFor('approve_intent', args)
    await server.call('POST', '/kill-switch', { json: { level: 2, reason: 'x' } })
    expect((await call('approve_intent', args)).value).toMatchObject({ error: 'kill_switch_active' })
    expect((await call('approve_intent', { ...args, confirm })).value).toMatchObject({
      error: 'kill_switch_active',
    })
    expect((await server.auditEntries()).at(-1)).toMatchObject({
      resource: 'mcp:approve_intent',
      outcome: 'denied',
      reason: 'kill_switch_active',
    })
  })

  it('is refused to a caller without the right, though with the code of an operator', async () => {
    await server.close()
    server = await startTrading({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    const operator = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    const lower = { level: 0, reason: 'all clear' }
    const { confirm } = (await call('set_kill_switch', lower, operator)).structuredContent
    const denials = async () =>
      (await server.auditEntries()).filter(({ resource }) => resource === 'mcp:set_kill_switch')
    expect(await denials()).toEqual([])
    expect((await call('set_kill_switch', { ...lower, confirm })).isError).toBe(true)
    expect(await denials()).toMatchObject([{ outcome: 'denied', reason: 'auth.forbidden' }])
  })

  it('remembers the newest thousand codes', async () => {
    const { state } = server.engine
    const about = { tool: 'deny_intent', arguments: {} }
    const codes = Array.from({ length: 1001 }, () => issueConfirmation(about, state, 2000))
    const isKnown = (code: string | undefined) => useConfirmation(code ?? '', about, state, 1000).status
    expect([0, 1, 1000].map((index) => isKnown(codes[index]))).toEqual(['invalid', 'valid', 'valid'])
  })

  it('is for whoever has the operator token, once it is set', async () => {
    await server.close()
    server = await startTrading({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    const args = { intent_id: INTENT_IDS.BTC }
    for (const name of ['approve_intent', 'deny_intent']) {
      expect(await call(name, args)).toMatchObject({ isError: true, value: { error: 'operator_required' } })
      expect((await server.auditEntries()).at(-1)).toMatchObject({
        resource: `mcp:${name}`,
        outcome: 'denied',
        reason: 'auth.forbidden',
      })
    }
    const operator = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const asked = await call('approve_intent', args, operator)
    const { confirm } = asked.structuredContent
    expect((await call('approve_intent', { ...args, confirm })).value).toMatchObject({
      error: 'operator_required',
    })
    expect((await call('approve_intent', { ...args, confirm }, operator)).value).toMatchObject({
      status: 'done',
    })
  })
})
