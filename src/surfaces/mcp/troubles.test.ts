import { expect, it } from 'vitest'
import { EngineClosedError, QueueFullError } from '../../engine/errors.ts'
import { StoreUnavailableError } from '../../ports/event-log.ts'
import { troubleOf } from './troubles.ts'

it.each([
  [new StoreUnavailableError('disk full'), /store does not answer/],
  [new QueueFullError(), /Too many writes/],
  [new EngineClosedError(), /stopping/],
  [new Error('secret'), /unexpected/],
  ['secret', /unexpected/],
])('%s is told without its words', (error, expected) => {
  expect(troubleOf(error)).toMatch(expected)
  expect(troubleOf(error)).not.toMatch(/secret|disk full/)
})
