import { describe, expect, it } from 'vitest'
import { lookedUp } from './broker.faults.contract.ts'
import { entryOf, exitOf, tradesIn, type BrokerStage } from './broker.fixture.ts'

/** Many orders through a venue at which everything goes wrong, as whoever uses a broker sends them. */
export const brokerStormContract = (name: string, stageOf: () => Promise<BrokerStage>): void => {
  describe(`${name} in a storm`, () => {
    it.each([1, 2, 3])('sends nothing twice and misses nothing (seed %i)', async (seed) => {
      const stage = await stageOf()
      const { broker, run } = stage
      await run(broker.preflight(['BTC']))
      stage.storm({ seed, share: 0.4 })
      const rejected = new Set<string>()
      const ids: string[] = []
      for (let turn = 0; turn < ORDERS; turn += 1) {
        const id = `order-${seed}-${turn}`
        ids.push(id)
        const answer = await run(broker.submit(turn % 2 === 0 ? entryOf(id) : exitOf(id)))
        if (answer.status === 'rejected') rejected.add(id)
        // The venue may have asked to be left alone.
        await run(stage.pass(PAUSE_MS))
      }
      stage.storm(null)
      for (const id of ids) await expectTrue(stage, id, rejected.has(id))
    })
  })
}

const ORDERS = 40
const PAUSE_MS = 130_000

const expectTrue = async (stage: BrokerStage, id: string, wasRejected: boolean): Promise<void> => {
  const accepted = stage.orders().filter(({ clientOrderId }) => clientOrderId === id)
  expect(accepted.length).toBeLessThanOrEqual(wasRejected ? 0 : 1)
  const looked = await lookedUp(stage, id)
  expect(looked.status).toBe(accepted.length === 1 ? 'found' : 'not_found')
  const fills = looked.status === 'found' ? looked.report.fills : []
  expect(tradesIn(fills)).toEqual(stage.tradesOf(id))
}
