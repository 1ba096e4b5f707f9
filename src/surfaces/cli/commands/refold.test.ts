import { signatures } from '../../../adapters/platform/signatures/signatures.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EventLog, LogQuery } from '../../../ports/event-log.ts'
import { Failure } from '../failure.ts'
import { refold } from './replay.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['kill-switch', 'set', '1'])
})
afterEach(() => home.close())

const options = { hashAtSeq: null, onProgress: () => undefined }

/** The log, which another process grows whenever it is read. */
const growing = (log: EventLog, timesMax: number): EventLog => {
  let times = 0
  const read = async (query: LogQuery) => {
    const records = await log.read(query)
    if (times < timesMax) {
      times += 1
      await home.run(['kill-switch', 'set', String(times % 2 === 0 ? 1 : 2)])
    }
    return records
  }
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'read') return read
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

it('compares both folds at the same place, though the log grows meanwhile', async () => {
  const log = home.log()
  if (log === null) throw new Error('no log')
  const result = await refold(growing(log, 5), { signatures, own: null, firstHash: null }, options)
  expect(result.identical).toBe(true)
  expect(result.seq).toBe((await log.head()).seq)
})

it('gives up on a log that never stands still', async () => {
  const log = home.log()
  if (log === null) throw new Error('no log')
  let end = 100
  const restless: EventLog = new Proxy(log, {
    get: (target, name) => {
      if (name === 'read') {
        return async () => {
          // Every reading ends one event later than the one before it.
          end += 1
          const [first] = await target.read({ order: 'asc', limit: 1 })
          return first === undefined ? [] : [{ ...first, seq: end }]
        }
      }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  await expect(refold(restless, { signatures, own: null, firstHash: null }, options)).rejects.toBeInstanceOf(
    Failure,
  )
})
