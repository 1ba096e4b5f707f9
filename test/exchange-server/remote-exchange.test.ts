import { expect, it } from 'vitest'
import { createCcxtBroker } from '../../src/adapters/brokers/ccxt/ccxt-broker.ts'
import { createSystemTimer } from '../../src/adapters/platform/timer/system-timer.ts'
import { entryOf, exitOf, patient } from '../../src/ports/broker.fixture.ts'
import { startRemoteExchange } from './remote-exchange.ts'

const ORDER = '^POST .*/v1/order$'

it('a venue in its own process remembers what was sent, whoever forgets it', async () => {
  const venue = await startRemoteExchange({ perpetuals: ['BTC'] })
  const { baseUrl, apiKey, secret } = venue
  const openBroker = () =>
    patient(
      createCcxtBroker({
        exchange: 'binanceusdm',
        credentials: { apiKey, secret },
        leverageMax: 3,
        timer: createSystemTimer(),
        baseUrl,
        rateLimitMs: 0.01,
      }),
    )
  try {
    await venue.change({ prices: { BTC: '60000' } })
    const first = openBroker()
    await venue.addFault({ request: ORDER, fault: { kind: 'done_then_drop' }, times: 1 })
    expect((await first.submit(entryOf('entry-1'))).status).toBe('unclear')
    await first.close()

    const second = openBroker()
    expect(await second.lookup(entryOf('entry-1'))).toMatchObject({
      status: 'found',
      report: { status: 'filled' },
    })
    await venue.schedule({ seed: 1, share: 1, choices: [{ request: ORDER, fault: { kind: 'drop' } }] })
    expect((await second.submit(exitOf('exit-1'))).status).toBe('unclear')
    await venue.clearFaults()
    await venue.addFault({
      request: ORDER,
      fault: { kind: 'partial', share: 0.5, rest: 'open' },
      times: 1,
    })
    expect((await second.submit(exitOf('exit-2'))).status).toBe('accepted')
    expect(await venue.fill('exit-2')).toBe(true)
    expect(await second.account()).toMatchObject({ positions: [] })
    expect((await second.submit(entryOf('entry-2'))).status).toBe('accepted')
    await venue.liquidate('BTC')
    await second.close()

    const journal = await venue.journal()
    expect(journal.orders.map(({ clientOrderId }) => clientOrderId)).toEqual(['entry-1', 'exit-2', 'entry-2'])
    expect(journal.positions).toEqual([])
    expect(journal.attempts.every(({ outcome }) => outcome === 'accepted')).toBe(true)
  } finally {
    await venue.close()
  }
})
