import { Map as PersistentMap } from 'immutable'
import { expect, it } from 'vitest'
import { NOW } from '../../../test/given.fixture.ts'
import { remembered, swept, UNUSED_MAX } from './contributors.ts'

it('waits for so many signals, and for more once old ones are let go', () => {
  const waiting = { contributorId: 'c1', receivedAt: '2026-02-10T00:00:00.000Z' }
  const full = PersistentMap(Array.from({ length: UNUSED_MAX }, (_, index) => [`s${index}`, waiting]))
  expect(remembered(full, 'one more', 'c1', NOW)).toBe(full)
  const emptied = swept(full, NOW)
  expect(emptied.size).toBe(0)
  expect(remembered(emptied, 'one more', 'c1', NOW).get('one more')).toEqual({
    contributorId: 'c1',
    receivedAt: NOW,
  })
})
