import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { createSystemTimer } from './system-timer.ts'

const timer = createSystemTimer()

it('has the time of the machine', () => {
  const before = Date.now()
  const now = timer.now()
  expect(now).toBeGreaterThanOrEqual(before)
  expect(now).toBeLessThanOrEqual(Date.now())
})

it('waits, and leaves no listener behind', async () => {
  const { signal } = new AbortController()
  await timer.wait(1, signal)
  await timer.wait(0, signal)
  await timer.wait(-5, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('ends early when aborted, however long the wait', async () => {
  const controller = new AbortController()
  const waits = [
    timer.wait(60_000, controller.signal),
    timer.wait(Number.MAX_SAFE_INTEGER, controller.signal),
  ]
  controller.abort()
  expect(await Promise.all(waits)).toHaveLength(2)
  expect(await timer.wait(60_000, controller.signal)).toBeUndefined()
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

it('warns of no leak when many wait for one signal', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  const controller = new AbortController()
  const waits = Array.from({ length: 30 }, () => timer.wait(60_000, controller.signal))
  await timer.wait(1, new AbortController().signal)
  controller.abort()
  await Promise.all(waits)
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})
