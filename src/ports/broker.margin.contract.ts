import { describe, expect, it } from 'vitest'
import { entryOf, exitOf, type BrokerFixture } from './broker.fixture.ts'

/** Orders are sent only with the margin mode and leverage that were decided. */
export const brokerMarginContract = (name: string, openFixture: () => Promise<BrokerFixture>): void => {
  describe(`${name} brings margin mode and leverage`, () => {
    it('to what an entry needs, before it is sent', async () => {
      const { broker, run, marginOf } = await openFixture()
      expect(marginOf('BTC')).not.toEqual({ mode: 'isolated', leverage: 3 })
      expect((await run(broker.submit(entryOf('entry1')))).status).toBe('accepted')
      expect(marginOf('BTC')).toEqual({ mode: 'isolated', leverage: 3 })
    })

    it('and sends nothing where the venue has others, with a sentence that says so', async () => {
      const fixture = await openFixture()
      fixture.stickMargins()
      const result = await fixture.run(fixture.broker.submit(entryOf('entry1')))
      expect(result).toMatchObject({
        status: 'not_sent',
        reason: expect.stringMatching(
          /^BTC\S+ should have isolated margin with leverage 3, but the venue has \w+ margin with /,
        ),
      })
      expect(fixture.orders()).toEqual([])
    })

    it('not for an order that only reduces', async () => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await run(broker.submit(entryOf('entry1')))
      fixture.stickMargins()
      expect((await run(broker.submit(exitOf('exit1', { leverage: 9 })))).status).toBe('accepted')
    })
  })
}
