import { describe, expect, it } from 'vitest'
import { isFull, runSeed } from '../../test/generated.fixture.ts'
import type { SubmitResult } from './broker.ts'
import {
  entryOf,
  exitOf,
  sumOf,
  tradesIn,
  units,
  type BrokerFixture,
  type RequestKind,
  type BrokerFault,
} from './broker.fixture.ts'

/** Results of a broker when the venue or the network fails. A broker never guesses. */
export const brokerFaultsContract = (name: string, openFixture: () => Promise<BrokerFixture>): void => {
  describe(`${name} returns for an order`, () => {
    it.each(SUBMIT_FAULTS)('after %s: %s', async (fault, expected) => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await run(broker.preflight(['BTC']))
      fixture.addFault('submit', fault, 1)
      const result = await run(broker.submit(entryOf('entry1')))
      // A response that contains only ids has no numbers that could be wrong.
      const isUnharmed = fault === 'wrong_precision' && fixture.acknowledges === 'ids'
      expect(result.status).toBe(isUnharmed ? 'accepted' : expected)
      // Both statuses mean that the venue has no such order.
      if (result.status === 'rejected' || result.status === 'not_sent') expect(fixture.orders()).toEqual([])
      fixture.randomFaults(null)
      const looked = await lookupUntilDefinite(fixture, 'entry1')
      expect(looked.status).toBe(fixture.orders().length === 1 ? 'found' : 'not_found')
      expect(fixture.orders().length).toBeLessThanOrEqual(1)
    })

    it.each(['limit', 'ban'] as const)('after a %s when it may be sent again', async (fault) => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await run(broker.preflight(['BTC']))
      fixture.addFault('submit', fault, 1)
      const first = await run(broker.submit(entryOf('entry1')))
      const waitMs = first.status === 'not_sent' ? (first.retryAfterMs ?? 0) : 0
      // The pause that the venue requested, minus the time that its answer took.
      expect(waitMs).toBeGreaterThan(fixture.pauseMs[fault] - 1000)
      expect(waitMs).toBeLessThanOrEqual(fixture.pauseMs[fault])
      const before = fixture.requests()
      // Until then nothing is sent, and the remaining time is known.
      await run(fixture.pass(waitMs / 2))
      const second = await run(broker.submit(entryOf('entry1')))
      if (fixture.pauseMs[fault] > 10_000) {
        expect(second.status === 'not_sent' ? second.retryAfterMs : null).toBeLessThanOrEqual(waitMs / 2)
        expect(fixture.requests()).toBe(before)
        await run(fixture.pass(waitMs / 2))
      } else {
        // The broker waits for a short pause.
        expect(second.status).toBe('accepted')
      }
      expect((await run(broker.submit(entryOf('entry1')))).status).toBe('accepted')
    })

    it('that it was not sent when its leverage could not be set', async () => {
      const fixture = await openFixture()
      fixture.addFault('leverage', 'drop_after', 1)
      expect((await fixture.run(fixture.broker.submit(entryOf('entry1')))).status).toBe('not_sent')
      expect(fixture.orders()).toEqual([])
      expect((await fixture.run(fixture.broker.submit(entryOf('entry2')))).status).toBe('accepted')
    })

    it('the order that was sent before, when its client order id is taken', async () => {
      const fixture = await openFixture()
      fixture.addFault('submit', 'part_then_open', 1)
      await fixture.run(fixture.broker.submit(entryOf('entry1')))
      const again = await fixture.run(fixture.broker.submit(entryOf('entry1')))
      expect(again).toMatchObject({ status: 'accepted', report: { status: 'partial' } })
      expect(fixture.orders()).toHaveLength(1)
    })
  })

  describe(`${name} looks up`, () => {
    it.each(UNCLEAR_LOOKUPS)('orders and returns unclear after %s', async (fault) => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await run(broker.submit(entryOf('entry1')))
      fixture.addFault('lookup', fault, 1)
      expect((await run(broker.lookup(entryOf('entry1')))).status).toBe('unclear')
      fixture.addFault('lookup', fault, 1)
      // Without a response, even a missing order is not `not_found`.
      expect((await lookupUntilDefinite(fixture, 'entry1')).status).toBe('found')
    })

    it('orders and does not find a hidden one until it is listed', async () => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      fixture.addFault('submit', 'hidden', 1)
      await run(broker.submit(entryOf('entry1')))
      const results = []
      for (let attempt = 0; attempt < 3; attempt += 1)
        results.push((await run(broker.lookup(entryOf('entry1')))).status)
      expect(results).toEqual(['not_found', 'not_found', 'found'])
    })
  })

  describe(`${name} cancels`, () => {
    it.each<BrokerFault>(['drop_before', 'drop_after', 'server_error_after', 'limit', 'page_after'])(
      'orders and returns unclear after %s',
      async (fault) => {
        const fixture = await openFixture()
        const { broker, run } = fixture
        fixture.addFault('submit', 'part_then_open', 1)
        await run(broker.submit(entryOf('entry1')))
        fixture.addFault('cancel', fault, 1)
        expect((await run(broker.cancel(entryOf('entry1')))).status).toBe('unclear')
        const looked = await lookupUntilDefinite(fixture, 'entry1')
        expect(looked).toMatchObject({
          status: 'found',
          report: { status: fault.endsWith('after') ? 'canceled' : 'partial' },
        })
      },
    )
  })

  describe(`${name} reports trades`, () => {
    it.each<BrokerFault>(['repeated_trades', 'shuffled_trades'])('each once, in order: %s', async (fault) => {
      const fixture = await openFixture()
      fixture.addFault('trades', fault)
      for (const id of ['entry1', 'entry2', 'entry3']) {
        const result = await fixture.run(fixture.broker.submit(entryOf(id)))
        const report = result.status === 'accepted' ? result.report : null
        expect(tradesIn(report?.fills ?? [])).toEqual(fixture.tradesOf(id))
      }
    })

    it.each<readonly [RequestKind, BrokerFault]>([
      ['submit', 'late_trades'],
      ['trades', 'server_error_before'],
      ['trades', 'wrong_precision'],
      ['trades', 'page_after'],
    ])('later, when they are not listed yet: %s %s', async (kind, fault) => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      fixture.addFault(kind, fault, 3)
      const result = await run(broker.submit(entryOf('entry1')))
      const report = result.status === 'accepted' ? result.report : null
      expect(report?.filledQuantity).toBe(units(0.05))
      expect(sumOf(report?.fills ?? [])).toBeLessThan(units(0.05))
      const looked = await lookupUntilDefinite(fixture, 'entry1')
      const fills = looked.status === 'found' ? looked.report.fills : []
      expect(tradesIn(fills)).toEqual(fixture.tradesOf('entry1'))
    })

    it('of a partial fill, and whether the rest has ended or is open', async () => {
      const fixture = await openFixture()
      const reports = []
      for (const [index, fault] of (['part_then_canceled', 'part_then_open'] as const).entries()) {
        const id = `part${index}`
        fixture.addFault('submit', fault, 1)
        const result = await fixture.run(fixture.broker.submit(entryOf(id)))
        const report = result.status === 'accepted' ? result.report : null
        reports.push(report?.status)
        expect(tradesIn(report?.fills ?? [])).toEqual(fixture.tradesOf(id))
      }
      expect(reports).toEqual(['canceled', 'partial'])
    })
  })
}

/** Repeats the lookup until it has a definite result: limits end, and hidden orders turn up. */
const lookupUntilDefinite = async (fixture: BrokerFixture, clientOrderId: string) => {
  for (let attempt = 0; attempt < LOOKUPS_MAX; attempt += 1) {
    const result = await fixture.run(fixture.broker.lookup(entryOf(clientOrderId)))
    const isWhole = result.status === 'found' && sumOf(result.report.fills) === result.report.filledQuantity
    const isKnown = result.status === 'not_found' && attempt >= HIDDEN_MAX
    if (isWhole || isKnown) return result
    await fixture.run(fixture.pass(LIMIT_MS))
  }
  throw new Error(`no definite lookup of ${clientOrderId}`)
}

const LOOKUPS_MAX = 20
const HIDDEN_MAX = 3
/** Longer than any pause that the venue requests. */
const LIMIT_MS = 130_000

const SUBMIT_FAULTS: readonly (readonly [BrokerFault, SubmitResult['status']])[] = [
  ['drop_before', 'unclear'],
  ['drop_after', 'unclear'],
  ['silence_before', 'unclear'],
  ['silence_after', 'unclear'],
  ['broken_off', 'unclear'],
  ['page_before', 'unclear'],
  ['page_after', 'unclear'],
  ['server_error_before', 'unclear'],
  ['server_error_after', 'unclear'],
  ['unknown_after', 'unclear'],
  ['limit_of_a_proxy', 'unclear'],
  ['wrong_precision', 'unclear'],
  ['limit', 'not_sent'],
  ['ban', 'not_sent'],
  ['refusal', 'rejected'],
  ['lost', 'accepted'],
  ['hidden', 'accepted'],
  ['part_then_canceled', 'accepted'],
  ['part_then_open', 'accepted'],
  ['late_trades', 'accepted'],
]

const UNCLEAR_LOOKUPS: readonly BrokerFault[] = [
  'drop_before',
  'drop_after',
  'silence_after',
  'broken_off',
  'page_before',
  'server_error_before',
  'limit',
  'limit_of_a_proxy',
  'refusal',
  'wrong_precision',
]

/** Known seeds. A run uses one of them, which follows from the commit, and a full run all of them. */
const SEEDS = isFull ? [1, 2, 3] : [1 + (runSeed() % 3)]

/** Many orders to a venue with random faults. */
export const brokerRandomFaultsContract = (name: string, openFixture: () => Promise<BrokerFixture>): void => {
  describe(`${name} with random faults`, () => {
    it.each(SEEDS)('sends nothing twice and misses nothing (seed %i)', async (seed) => {
      const fixture = await openFixture()
      const { broker, run } = fixture
      await run(broker.preflight(['BTC']))
      fixture.randomFaults({ seed, share: 0.4 })
      const rejected = new Set<string>()
      const ids: string[] = []
      for (let turn = 0; turn < ORDERS; turn += 1) {
        const id = `order${seed}x${turn}`
        ids.push(id)
        const result = await run(broker.submit(turn % 2 === 0 ? entryOf(id) : exitOf(id)))
        if (result.status === 'rejected' || result.status === 'not_sent') rejected.add(id)
        // The venue may have requested a pause.
        await run(fixture.pass(LIMIT_MS))
      }
      fixture.randomFaults(null)
      for (const id of ids) await expectConsistent(fixture, id, rejected.has(id))
    })
  })
}

const ORDERS = 40

const expectConsistent = async (fixture: BrokerFixture, id: string, wasRejected: boolean): Promise<void> => {
  const accepted = fixture.orders().filter(({ clientOrderId }) => clientOrderId === id)
  expect(accepted.length).toBeLessThanOrEqual(wasRejected ? 0 : 1)
  const looked = await lookupUntilDefinite(fixture, id)
  expect(looked.status).toBe(accepted.length === 1 ? 'found' : 'not_found')
  const fills = looked.status === 'found' ? looked.report.fills : []
  expect(tradesIn(fills)).toEqual(fixture.tradesOf(id))
}
