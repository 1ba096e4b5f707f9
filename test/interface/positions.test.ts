import { beforeAll, expect, it } from 'vitest'
import { emit, eventsOf, registerProducer } from './acts.ts'
import { agreementOn, bullMarket } from './opinions.ts'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

interface PositionItem {
  readonly id: string
  readonly asset: string
  readonly status: string
  readonly stop_loss: number
}

onDefaultStore('a position', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
    await registerProducer(service, 'ticker', 'technical')
    await bullMarket(service)
    for (const symbol of ['ETH', 'SOL']) {
      await price(symbol, 100)
      await agreementOn(service, symbol, `fan of ${symbol}`)
    }
  })
  const price = (symbol: string, value: number) =>
    emit(service, 'ticker', 'signal.price_ws.v1', { symbol, price: value })
  const positions = async (query = ''): Promise<readonly PositionItem[]> =>
    (await service.call('GET', `/positions${query}`)).body
  const of = (asset: string, items: readonly PositionItem[]) => items.find((item) => item.asset === asset)

  it('has its members while it is open, and when it is closed', async () => {
    const cycle = (await service.call('POST', '/brain/run')).body as { intents: readonly object[] }
    expect(cycle.intents).toMatchObject([{ status: 'filled' }, { status: 'filled' }])
    const open = await positions()
    expect(open).toHaveLength(2)
    expect(Object.keys(open[0] ?? {})).toEqual(MEMBERS)
    expect(of('ETH', open)).toMatchObject({
      platform: 'paper',
      direction: 'long',
      entry_price: 100.05,
      stop_loss: 95.0475,
      take_profit: 110.055,
      mark_price: 100,
      closed_at: null,
      realized_pnl: null,
      regime_at_entry: 'BULL',
    })
    // The target is above 110: this one ends well.
    await price('SOL', 111)
    const sol = of('SOL', await positions('?status=closed'))
    expect(sol).toMatchObject({ status: 'closed', exit_reason: 'take_profit' })
    expect(Object.keys(sol ?? {})).toEqual(MEMBERS)
    expect((await positions()).map(({ asset }) => asset)).toEqual(['ETH'])
    expect((await service.call('GET', `/positions/${sol?.id}`)).body).toEqual(sol)
    expect(await eventsOf(service, 'alert.target_hit')).toHaveLength(1)
  })

  it('whose stop is hit is closed, but not in a lockdown', async () => {
    const level = (value: number) =>
      service.call('POST', '/kill-switch', { body: { level: value, reason: 'looking' } })
    await level(3)
    await price('ETH', 94)
    expect(await eventsOf(service, 'alert.stop_triggered')).toMatchObject([
      { payload: { realized_pnl: null } },
    ])
    expect(of('ETH', await positions())).toMatchObject({ asset: 'ETH' })
    await service.call('POST', '/kill-switch', { body: { level: 2, reason: 'exits again' } })
    await price('ETH', 93.9)
    expect(await positions()).toEqual([])
    expect(of('ETH', await positions('?status=closed'))).toMatchObject({ exit_reason: 'stop_loss' })
    const [alert] = await eventsOf(service, 'alert.stop_triggered')
    expect(alert?.payload).toMatchObject({ symbol: 'ETH', realized_pnl: expect.any(Number) as number })
  })
})

const MEMBERS = (
  'id platform asset direction entry_price size_notional quantity fees_usd leverage margin_type stop_loss ' +
  'take_profit opened_at closed_at status realized_pnl exit_price exit_reason mark_price unrealized_pnl ' +
  'conviction_id regime_at_entry pcs_at_entry cts_at_entry adopted'
).split(' ')
