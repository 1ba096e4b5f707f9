import canonicalize from 'canonicalize'
import { beforeAll, expect, it } from 'vitest'
import { emit, eventsOf, registerProducer } from './acts.ts'
import { agreementOn, bullMarket } from './opinions.ts'
import { derivedId, isSignedBy } from './proof.ts'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

interface Signed {
  readonly id: string
  readonly node_id: string
  readonly signature_b64: string
}

interface Owed extends Signed {
  readonly trade_id: string
  readonly realized_pnl_usd: number
  readonly karma_amount_usd: number
}

onDefaultStore('karma', (store) => {
  let service: RunningService
  let owed: Owed
  beforeAll(async () => {
    const karma = { SVC_KARMA__TREASURY_ADDRESS: '0x52908400098527886E0F7030069857D2E4169EE7' }
    service = await startService(await newHome(), { ...(await store()), ...karma })
    await registerProducer(service, 'ticker', 'technical')
    await bullMarket(service)
    await price('SOL', 100)
    await agreementOn(service, 'SOL')
    await service.call('POST', '/brain/run')
    // The target is above 110: this one ends well.
    await price('SOL', 111)
  })
  const price = (symbol: string, value: number) =>
    emit(service, 'ticker', 'signal.price_ws.v1', { symbol, price: value })
  const listed = async <Item>(path: string): Promise<readonly Item[]> =>
    ((await service.call('GET', path)).body as { items: readonly Item[] }).items
  const settle = (body: object) => service.call('POST', '/karma/settle', { body })

  const isProved = async ({ signature_b64: signature, ...shown }: Signed): Promise<boolean> => {
    const started = await eventsOf(service, 'system.started')
    const node = started.find(({ payload }) => payload['node_id'] === shown.node_id)
    const hex = Buffer.from(signature, 'base64').toString('hex')
    return isSignedBy(String(node?.payload['public_key']), canonicalize(shown) ?? '', hex)
  }

  it('a profitable close owes one intent', async () => {
    const intents = await listed<Owed>('/karma/intents')
    const [closed] = await eventsOf(service, 'execution.position_closed')
    const net = Number(closed?.payload['realized_pnl'])
    expect(intents).toMatchObject([
      {
        trade_id: closed?.payload['position_id'],
        realized_pnl_usd: net,
        karma_percentage: 0.005,
        contributors: [{ node_id: 'ann', share: 1 }],
        mode: 'paper',
      },
    ])
    owed = intents[0] as Owed
    expect(net).toBeGreaterThan(0)
    expect(owed.karma_amount_usd).toBeCloseTo(net * 0.005, 6)
    expect(owed.id).toBe(derivedId('karma.intent', owed.trade_id))
    expect(await isProved(owed)).toBe(true)
    expect(await isProved({ ...owed, karma_amount_usd: 1 } as Owed)).toBe(false)
  })

  it('is settled, and what is unknown is left out', async () => {
    const { status, body } = await settle({ intent_ids: [owed.id, 'x'] })
    const { receipt, skipped } = body as { receipt: Signed; skipped: readonly object[] }
    expect(status).toBe(200)
    expect(receipt).toMatchObject({ intent_ids: [owed.id], status: 'pending', tx_hash: null })
    expect(skipped).toEqual([{ id: 'x', reason: 'unknown' }])
    expect(receipt.id).toBe(derivedId('karma.receipt', canonicalize([[owed.id, 'x'].sort(), null]) ?? ''))
    expect(await isProved(receipt)).toBe(true)
    expect(await listed('/karma/intents')).toEqual([])
    expect(await listed('/karma/receipts')).toEqual([receipt])
    expect((await service.call('GET', '/treasury')).body).toMatchObject({
      pending_intents: 0,
      receipts: 1,
      pending_usd: 0,
      settled_usd: owed.karma_amount_usd,
    })
  })

  it('settling it again gives the same receipt, another way is refused', async () => {
    const again = (await settle({ intent_ids: [owed.id, 'x'] })).body as { receipt: Signed }
    expect(await listed('/karma/receipts')).toEqual([again.receipt])
    expect((await settle({ intent_ids: [owed.id], tx_hash: '0xfeed' })).body).toMatchObject({
      status: 400,
      code: 'karma.settlement_rejected',
      skipped: [{ id: owed.id, reason: 'already_settled' }],
    })
  })

  it('with a transaction it counts as submitted', async () => {
    await price('ETH', 100)
    await agreementOn(service, 'ETH', 'bob')
    await service.call('POST', '/brain/run')
    await price('ETH', 111)
    const [intent] = await listed<Owed>('/karma/intents')
    expect((await settle({ intent_ids: [intent?.id], tx_hash: '0xfeed' })).body).toMatchObject({
      receipt: { status: 'submitted', tx_hash: '0xfeed' },
    })
  })
})
