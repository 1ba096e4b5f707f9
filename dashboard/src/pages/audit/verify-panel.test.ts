import { expect, it } from 'vitest'
import { shareOf, STEPS } from './verify-panel.tsx'

it('grows over all steps of a verification', () => {
  const shares = STEPS.flatMap((step) =>
    [1, 2].map((checked) => shareOf({ step, checked, total: 2 }, STEPS) ?? Number.NaN),
  )
  expect(shares).toEqual([1, 2, 3, 4, 5, 6].map((part) => expect.closeTo(part / 6)))
})

it('is the whole of the one step of a check of the newest events', () => {
  expect(shareOf({ step: 'signatures', checked: 3, total: 3 }, ['signatures'])).toBe(1)
})

it('is not known before the first event', () => {
  expect(shareOf(null, STEPS)).toBeNull()
  expect(shareOf({ step: 'hashes', checked: 0, total: 0 }, STEPS)).toBeNull()
})
