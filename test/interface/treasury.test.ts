import { beforeAll, expect, it } from 'vitest'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

onDefaultStore('positions and treasury', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
  })
  const settle = (body?: unknown) => service.call('POST', '/karma/settle', body === undefined ? {} : { body })

  it('there is no position on a fresh server', async () => {
    const all = await service.call('GET', '/positions')
    expect([all.status, all.text]).toEqual([200, '[]'])
    const one = await service.call('GET', '/positions/none')
    expect([one.status, one.text]).toEqual([404, '{"detail":"Position not found"}'])
    expect(one.headers.get('content-type')).toContain('application/json')
  })

  it('the treasury is empty on a fresh server', async () => {
    expect((await service.call('GET', '/treasury')).body).toEqual({
      enabled: true,
      percentage: 0.005,
      treasury_address: '',
      pending_intents: 0,
      receipts: 0,
      pending_usd: 0,
      settled_usd: 0,
    })
    for (const path of ['/karma/intents', '/karma/receipts']) {
      expect((await service.call('GET', path)).body).toEqual({ items: [] })
    }
  })

  it('what cannot be settled is refused', async () => {
    expect((await settle()).body).toMatchObject({ status: 422, code: 'request.invalid' })
    for (const body of [{}, { intent_ids: [1] }]) {
      expect((await settle(body)).body).toMatchObject({
        status: 400,
        code: 'karma.settlement_rejected',
        errors: [{ loc: expect.arrayContaining(['body', 'intent_ids']) }],
      })
    }
    expect((await settle({ intent_ids: ['x'] })).body).toMatchObject({
      status: 400,
      code: 'karma.settlement_rejected',
      skipped: [{ id: 'x', reason: 'unknown' }],
    })
  })
})
