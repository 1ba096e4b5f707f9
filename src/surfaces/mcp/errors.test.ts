import { expect, it } from 'vitest'
import { EngineClosedError, QueueFullError } from '../../engine/command-queue.ts'
import { StoreUnavailableError } from '../../ports/event-log.ts'
import { errorDetailOf } from './endpoint.ts'

it.each([
  [new StoreUnavailableError('disk full'), /store does not answer/],
  [new QueueFullError(), /Too many writes/],
  [new EngineClosedError(), /stopping/],
  [new Error('secret'), /unexpected/],
  ['secret', /unexpected/],
])('%s is reported without its message', (error, expected) => {
  expect(errorDetailOf(error)).toMatch(expected)
  expect(errorDetailOf(error)).not.toMatch(/secret|disk full/)
})
