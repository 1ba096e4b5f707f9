import { signalId, contributorId, timestampOf } from '../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import { expect, it } from 'vitest'
import { NOW } from '../../../test/given.fixture.ts'
import { remembered, swept, UNUSED_MAX } from './contributors.ts'

it('tracks a bounded number of unused signals, and new ones after a sweep', () => {
  const ann = contributorId('c1')
  const waiting = { contributorId: ann, receivedAt: timestampOf('2026-02-10T00:00:00.000Z') }
  const full = PersistentMap(
    Array.from({ length: UNUSED_MAX }, (_, index) => [signalId(`s${index}`), waiting]),
  )
  expect(remembered(full, signalId('one more'), ann, NOW)).toBe(full)
  const emptied = swept(full, NOW)
  expect(emptied.size).toBe(0)
  expect(remembered(emptied, signalId('one more'), ann, NOW).get(signalId('one more'))).toEqual({
    contributorId: 'c1',
    receivedAt: NOW,
  })
})
