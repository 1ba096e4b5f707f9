import { afterEach, describe, expect, it } from 'vitest'
import type { CcxtFeedDependencies } from './ccxt-feed.ts'
import { openCcxtFeedFixture, type CcxtFeedFixture } from './ccxt-feed.fixture.ts'

let opened: CcxtFeedFixture | null = null
const openFixture = async (changes: Partial<CcxtFeedDependencies> = {}): Promise<CcxtFeedFixture> =>
  (opened = await openCcxtFeedFixture(changes))
afterEach(() => opened?.close())

const KLINES = /\/klines$/

describe('a stop', () => {
  it.each([
    ['of the start', /exchangeInfo$/],
    ['of the past', KLINES],
  ])('in the middle of a request %s ends it', async (_, path) => {
    const fixture = await openFixture({ warmupHours: 1 })
    fixture.venue.faults.add(path, { kind: 'slow', waitMs: 60_000 })
    const started = fixture.start()
    await fixture.until(
      () => fixture.venue.requests.some((request) => path.test(request.split('?')[0] ?? '')),
      0,
    )
    await fixture.feed.stop()
    await started
    await fixture.until(() => fixture.venue.inFlight() === 0, 0)
    expect(fixture.calls).toEqual([])
    expect(fixture.errors).toEqual([])
    expect(fixture.feed.status().state).toBe('stopped')
  })

  it('in the middle of a wait and with open sockets leaves nothing behind', async () => {
    const fixture = await openFixture()
    await fixture.start({ symbols: ['BTC', 'HYPE'] })
    await fixture.until(() => fixture.venue.streams.count() === 2, 0)
    fixture.venue.world.areSocketsMute = true
    fixture.venue.faults.add(/./, { kind: 'status', status: 429, retryAfterSeconds: 3600 })
    await fixture.nextMinute()
    await fixture.until(() => fixture.feed.status().state === 'failing')
    await fixture.feed.stop()
    await fixture.until(() => fixture.venue.streams.count() === 0, 0)
    const asked = fixture.venue.requests.length
    await fixture.timer.advance(2 * 3_600_000)
    expect(fixture.venue.requests).toHaveLength(asked)
  })
})
