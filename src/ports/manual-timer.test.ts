import { expect, it } from 'vitest'
import { createManualTimer, settle } from './manual-timer.fixture.ts'

const { signal } = new AbortController()

it('ends waits in the order in which they are due, each at its own moment', async () => {
  const timer = createManualTimer(1000)
  const ended: string[] = []
  const wait = async (name: string, ms: number): Promise<void> => {
    await timer.wait(ms, signal)
    ended.push(`${name} ${timer.now()}`)
  }
  const waits = [wait('late', 30), wait('early', 10), wait('twin', 30), wait('next', 31)]
  await timer.advance(30)
  expect(ended).toEqual(['early 1010', 'late 1030', 'twin 1030'])
  await timer.advance(1)
  await Promise.all(waits)
  expect(timer.now()).toBe(1031)
})

it('lets a loop wait again and again on the way', async () => {
  const timer = createManualTimer(0)
  const times: number[] = []
  const loop = async (): Promise<void> => {
    while (times.length < 5) {
      await timer.wait(10, signal)
      times.push(timer.now())
    }
  }
  const done = loop()
  await timer.advance(1000)
  await done
  expect(times).toEqual([10, 20, 30, 40, 50])
  expect(timer.now()).toBe(1000)
})

it('ends waits late when time jumps', async () => {
  const timer = createManualTimer(0)
  let endedAtMs = 0
  const wait = timer.wait(10, signal).then(() => {
    endedAtMs = timer.now()
  })
  await timer.jump(500)
  await wait
  expect(endedAtMs).toBe(500)
})

it('ends early when aborted, and at once when there is nothing to wait for', async () => {
  const timer = createManualTimer(0)
  const controller = new AbortController()
  const wait = timer.wait(10, controller.signal)
  await settle()
  controller.abort()
  await wait
  await timer.wait(10, controller.signal)
  await timer.wait(0, signal)
  expect(timer.now()).toBe(0)
})
