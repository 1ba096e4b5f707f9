import { beforeAll, expect, it } from 'vitest'
import { eventsOf } from './acts.ts'
import { agreementOn, bullMarket } from './opinions.ts'
import { newHome, startService, type Answer, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

onDefaultStore('the brain', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), {
      ...(await store()),
      SVC_EXECUTION__DCG_SYMBOLS: '["sol "]',
    })
  })
  const status = async (): Promise<{ readonly last_cycle_id: string | null }> =>
    (await service.call('GET', '/brain/status')).body
  const run = (): Promise<Answer> => service.call('POST', '/brain/run')
  const setLevel = (level: number): Promise<Answer> =>
    service.call('POST', '/kill-switch', { body: { level, reason: `level ${level}` } })

  it('knows nothing on a fresh server', async () => {
    expect(await status()).toEqual({
      regime: null,
      regime_changed_at: null,
      kill_switch_level: 0,
      kill_switch_reason: null,
      kill_switch_changed_at: null,
      last_cycle_id: null,
      last_cycle_at: null,
    })
    expect((await service.call('GET', '/regime')).body).toEqual({
      regime: null,
      changed_at: null,
      conditions: {},
      conditions_at: null,
    })
  })

  it('runs a cycle, and tells what came of it', async () => {
    const first = await run()
    expect(first.status).toBe(200)
    expect(first.body).toEqual({
      cycle_id: expect.any(String),
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      intents: [],
      regime: 'TRANSITION',
      kill_switch_level: 0,
    })
    const { cycle_id: cycleId } = first.body as { cycle_id: string }
    expect(await status()).toMatchObject({ last_cycle_id: cycleId, regime: 'TRANSITION' })
    expect((await service.call('GET', '/regime')).body).toMatchObject({
      regime: 'TRANSITION',
      changed_at: expect.any(String),
    })
    expect(((await run()).body as { cycle_id: string }).cycle_id).not.toBe(cycleId)
  })

  it('has no opinion of a symbol that nobody speaks of', async () => {
    const convictions = await eventsOf(service, 'brain.conviction')
    expect(new Set(convictions.map(({ payload }) => payload['symbol']))).toEqual(
      new Set(['BTC', 'ETH', 'SOL', 'SUI', 'HYPE']),
    )
    for (const { payload } of convictions)
      expect(payload).toMatchObject({ direction: 'neutral', magnitude: 0 })
    expect(await eventsOf(service, 'execution.trade_intent')).toEqual([])
  })

  it.each([1, 2, 3])('does not run at level %i', async (level) => {
    const { last_cycle_id: before } = await status()
    await setLevel(level)
    const audits = (await eventsOf(service, 'system.audit')).length
    expect((await run()).body).toMatchObject({ status: 423, code: 'kill_switch.active', level })
    expect((await status()).last_cycle_id).toBe(before)
    const written = (await eventsOf(service, 'system.audit')).slice(0, -audits)
    expect(written.map(({ payload }) => payload)).toMatchObject([
      { resource: '/brain/run', outcome: 'denied', reason: 'kill_switch_active' },
    ])
  })

  it('runs again after a reset', async () => {
    await setLevel(0)
    expect((await run()).status).toBe(200)
  })

  it('tells the regime that the last cycle saw', async () => {
    await bullMarket(service)
    expect((await run()).body).toMatchObject({ regime: 'BULL' })
    expect((await service.call('GET', '/regime')).body).toMatchObject({
      regime: 'BULL',
      changed_at: expect.any(String),
      conditions: { btc_rsi: 58, fear_greed: 62 },
    })
  })

  it('never trades a forbidden symbol', async () => {
    await agreementOn(service, 'SOL')
    const { intents } = (await run()).body as { intents: readonly object[] }
    expect(intents).toMatchObject([
      {
        symbol: 'SOL',
        status: 'rejected',
        reasons: expect.arrayContaining(['dcg_symbol']),
        position_id: null,
      },
    ])
    const [violation] = await eventsOf(service, 'system.dcg_violation')
    expect(violation?.payload).toMatchObject({
      symbol: 'SOL',
      action: 'buy',
      reason: 'Symbol in DCG blacklist',
      blocked_at: expect.any(String),
    })
    expect((await service.call('GET', '/positions?status=all')).body).toEqual([])
  })
})
