import { describe, expect, it } from 'vitest'
import { entryOf, exitOf, type BrokerFixture } from './broker.fixture.ts'

/** One deadline applies to all requests of a call. */
export const brokerDeadlineContract = (name: string, openFixture: () => Promise<BrokerFixture>): void => {
  /** Returns the result and the time that it took. */
  const timed = async <Result>(
    { run, now }: BrokerFixture,
    promise: Promise<Result>,
  ): Promise<{ readonly result: Result; readonly tookMs: number }> => {
    const beganMs = now()
    const result = await run(promise)
    return { result, tookMs: now() - beganMs }
  }

  describe(`${name} keeps a deadline`, () => {
    it('and sends no order after it, although an earlier request is answered late', async () => {
      const fixture = await openFixture()
      const { broker, run, within } = fixture
      await run(broker.preflight(['BTC']))
      fixture.addFault('leverage', 'late', 1)
      const { result, tookMs } = await timed(fixture, broker.submit(entryOf('entry1'), within(DEADLINE_MS)))
      expect(result).toMatchObject({ status: 'not_sent', retryAfterMs: null })
      expect(tookMs).toBeLessThanOrEqual(DEADLINE_MS + SOON_MS)
      await run(fixture.pass(60_000))
      expect(fixture.orders()).toEqual([])
      expect((await run(broker.lookup(entryOf('entry1')))).status).toBe('not_found')
    })

    it('and says of an order on its way that it is unclear', async () => {
      const fixture = await openFixture()
      const { broker, run, within } = fixture
      await run(broker.preflight(['BTC']))
      fixture.addFault('submit', 'silence_after', 1)
      const { result, tookMs } = await timed(fixture, broker.submit(entryOf('entry1'), within(DEADLINE_MS)))
      expect(result.status).toBe('unclear')
      expect(tookMs).toBeLessThanOrEqual(DEADLINE_MS + SOON_MS)
      expect((await run(broker.lookup(entryOf('entry1')))).status).toBe('found')
      expect(fixture.orders()).toHaveLength(1)
    })

    it('and reports an order that was accepted in time, whatever of its trades is missing', async () => {
      const fixture = await openFixture()
      const { broker, run, within } = fixture
      await run(broker.preflight(['BTC']))
      fixture.addFault('trades', 'silence_before', 1)
      const { result, tookMs } = await timed(fixture, broker.submit(entryOf('entry1'), within(DEADLINE_MS)))
      expect(result).toMatchObject({ status: 'accepted', report: { fills: [] } })
      expect(tookMs).toBeLessThanOrEqual(DEADLINE_MS + SOON_MS)
    })

    it('and asks nothing when it is over before it begins', async () => {
      const fixture = await openFixture()
      const { broker, run, within } = fixture
      await run(broker.preflight(['BTC']))
      const over = within(1)
      await run(fixture.pass(1))
      const before = fixture.requests()
      expect((await run(broker.submit(exitOf('exit1'), over))).status).toBe('not_sent')
      expect((await run(broker.submit(entryOf('entry1'), over))).status).toBe('not_sent')
      expect((await run(broker.lookup(entryOf('entry1'), over))).status).toBe('unclear')
      expect((await run(broker.cancel(entryOf('entry1'), over))).status).toBe('unclear')
      expect(fixture.requests()).toBe(before)
    })

    it('by the clock, also after a standstill in which no timer fired', async () => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await run(broker.preflight(['BTC']))
      const overMs = fixture.now() + DEADLINE_MS
      const deadline = { signal: new AbortController().signal, isOver: () => fixture.now() >= overMs }
      fixture.addFault('leverage', 'late', 1)
      // The answer to the first request arrives after the deadline and before its signal.
      const { result } = await timed(fixture, broker.submit(entryOf('entry1'), deadline))
      expect(result.status).toBe('not_sent')
      expect(fixture.orders()).toEqual([])
    })

    it.each(['lookup', 'cancel'] as const)('when it is asked for a %s', async (kind) => {
      const fixture = await openFixture()
      const { broker, run, within } = fixture
      fixture.addFault('submit', 'part_then_open', 1)
      await run(broker.submit(entryOf('entry1')))
      fixture.addFault(kind, 'silence_before', 1)
      const asked: Promise<{ readonly status: string }> = broker[kind](entryOf('entry1'), within(DEADLINE_MS))
      const { result, tookMs } = await timed(fixture, asked)
      expect(result.status).toBe('unclear')
      expect(tookMs).toBeLessThanOrEqual(DEADLINE_MS + SOON_MS)
    })
  })
}

/** Shorter than the timeout of a single request. */
const DEADLINE_MS = 4000
/** Tolerance: tests advance time in coarse steps. */
const SOON_MS = 1500
