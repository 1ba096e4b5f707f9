import { describe, expect, it } from 'vitest'
import {
  entryOf,
  sumOf,
  tradesIn,
  units,
  type BrokerStage,
  type RequestKind,
  type Trouble,
} from './broker.fixture.ts'

/** What a broker makes of a venue that misbehaves: it never guesses. */
export const brokerFaultsContract = (name: string, stageOf: () => Promise<BrokerStage>): void => {
  describe(`${name} says of an order that went wrong`, () => {
    it.each(SUBMIT_TROUBLES)('%s: %s', async (trouble, expected) => {
      const stage = await stageOf()
      const { broker, run } = stage
      await run(broker.preflight(['BTC']))
      stage.trouble('submit', trouble, 1)
      const answer = await run(broker.submit(entryOf('entry-1')))
      expect(answer.status).toBe(expected)
      // A rejection is a promise that there is no such order.
      if (answer.status === 'rejected') expect(stage.orders()).toEqual([])
      stage.storm(null)
      const looked = await lookedUp(stage, 'entry-1')
      expect(looked.status).toBe(stage.orders().length === 1 ? 'found' : 'not_found')
      expect(stage.orders().length).toBeLessThanOrEqual(1)
    })

    it('that nothing was sent when its leverage could not be set', async () => {
      const stage = await stageOf()
      stage.trouble('leverage', 'drop_after', 1)
      expect((await stage.run(stage.broker.submit(entryOf('entry-1')))).status).toBe('rejected')
      expect(stage.orders()).toEqual([])
      expect((await stage.run(stage.broker.submit(entryOf('entry-2')))).status).toBe('accepted')
    })

    it('what was sent before, when its name is taken', async () => {
      const stage = await stageOf()
      stage.trouble('submit', 'part_then_open', 1)
      await stage.run(stage.broker.submit(entryOf('entry-1')))
      const again = await stage.run(stage.broker.submit(entryOf('entry-1')))
      expect(again).toMatchObject({ status: 'accepted', report: { status: 'partial' } })
      expect(stage.orders()).toHaveLength(1)
    })
  })

  describe(`${name} looks up`, () => {
    it.each(UNCLEAR_LOOKUPS)('and does not know when it meets %s', async (trouble) => {
      const stage = await stageOf()
      const { broker, run } = stage
      await run(broker.submit(entryOf('entry-1')))
      stage.trouble('lookup', trouble, 1)
      expect((await run(broker.lookup(entryOf('entry-1')))).status).toBe('unclear')
      stage.trouble('lookup', trouble, 1)
      // Not even of what never was: silence is no answer.
      expect((await lookedUp(stage, 'entry-1')).status).toBe('found')
    })

    it('and does not find what the venue hides, until it does', async () => {
      const stage = await stageOf()
      const { broker, run } = stage
      stage.trouble('submit', 'hidden', 1)
      await run(broker.submit(entryOf('entry-1')))
      const answers = []
      for (let attempt = 0; attempt < 3; attempt += 1)
        answers.push((await run(broker.lookup(entryOf('entry-1')))).status)
      expect(answers).toEqual(['not_found', 'not_found', 'found'])
    })
  })

  describe(`${name} cancels`, () => {
    it.each<Trouble>(['drop_before', 'drop_after', 'server_error_after', 'limit', 'page_after'])(
      'and does not know when it meets %s',
      async (trouble) => {
        const stage = await stageOf()
        const { broker, run } = stage
        stage.trouble('submit', 'part_then_open', 1)
        await run(broker.submit(entryOf('entry-1')))
        stage.trouble('cancel', trouble, 1)
        expect((await run(broker.cancel(entryOf('entry-1')))).status).toBe('unclear')
        const looked = await lookedUp(stage, 'entry-1')
        expect(looked).toMatchObject({
          status: 'found',
          report: { status: trouble.endsWith('after') ? 'canceled' : 'partial' },
        })
      },
    )
  })

  describe(`${name} tells trades`, () => {
    it.each<Trouble>(['repeated_trades', 'shuffled_trades'])('each once, in order: %s', async (trouble) => {
      const stage = await stageOf()
      stage.trouble('trades', trouble)
      for (const id of ['entry-1', 'entry-2', 'entry-3']) {
        const answer = await stage.run(stage.broker.submit(entryOf(id)))
        const report = answer.status === 'accepted' ? answer.report : null
        expect(tradesIn(report?.fills ?? [])).toEqual(stage.tradesOf(id))
      }
    })

    it.each<readonly [RequestKind, Trouble]>([
      ['submit', 'late_trades'],
      ['trades', 'server_error_before'],
      ['trades', 'wrong_precision'],
      ['trades', 'page_after'],
    ])('later, when they are not told yet: %s %s', async (kind, trouble) => {
      const stage = await stageOf()
      const { broker, run } = stage
      stage.trouble(kind, trouble, 3)
      const answer = await run(broker.submit(entryOf('entry-1')))
      const report = answer.status === 'accepted' ? answer.report : null
      expect(report?.filledQuantity).toBe(units(0.05))
      expect(sumOf(report?.fills ?? [])).toBeLessThan(units(0.05))
      const looked = await lookedUp(stage, 'entry-1')
      const fills = looked.status === 'found' ? looked.report.fills : []
      expect(tradesIn(fills)).toEqual(stage.tradesOf('entry-1'))
    })

    it('of a part, and that the rest has ended or is open', async () => {
      const stage = await stageOf()
      const reports = []
      for (const trouble of ['part_then_canceled', 'part_then_open'] as const) {
        stage.trouble('submit', trouble, 1)
        const answer = await stage.run(stage.broker.submit(entryOf(trouble)))
        const report = answer.status === 'accepted' ? answer.report : null
        reports.push(report?.status)
        expect(tradesIn(report?.fills ?? [])).toEqual(stage.tradesOf(trouble))
      }
      expect(reports).toEqual(['canceled', 'partial'])
    })
  })
}

/** Asks until the venue knows: limits end, and what is hidden turns up. */
export const lookedUp = async (stage: BrokerStage, clientOrderId: string) => {
  for (let attempt = 0; attempt < LOOKUPS_MAX; attempt += 1) {
    const answer = await stage.run(stage.broker.lookup(entryOf(clientOrderId)))
    const isWhole = answer.status === 'found' && sumOf(answer.report.fills) === answer.report.filledQuantity
    const isKnown = answer.status === 'not_found' && attempt >= HIDDEN_MAX
    if (isWhole || isKnown) return answer
    await stage.run(stage.pass(LIMIT_MS))
  }
  throw new Error(`the venue never said what became of ${clientOrderId}`)
}

const LOOKUPS_MAX = 20
const HIDDEN_MAX = 3
/** Longer than the venue ever asks to be left alone. */
const LIMIT_MS = 130_000

const SUBMIT_TROUBLES: readonly (readonly [Trouble, 'accepted' | 'rejected' | 'unclear'])[] = [
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
  ['limit', 'rejected'],
  ['ban', 'rejected'],
  ['refusal', 'rejected'],
  ['lost', 'accepted'],
  ['hidden', 'accepted'],
  ['part_then_canceled', 'accepted'],
  ['part_then_open', 'accepted'],
  ['late_trades', 'accepted'],
]

const UNCLEAR_LOOKUPS: readonly Trouble[] = [
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
