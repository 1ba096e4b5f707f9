import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

/** Tasks that take a given time, and a record of the tasks done in each turn of the event loop. */
const fixture = (turnMs: number) => {
  const done: string[] = []
  let nowMs = 0
  const turns = new Turns(turnMs, () => nowMs)
  return {
    done,
    ask: (name: string, takesMs: number) =>
      turns.take(() => {
        done.push(name)
        nowMs += takesMs
      }),
    /** A task that continues after its first part, as all requests do. */
    askInParts: (name: string, takesMs: number) =>
      turns.take(() => {
        done.push(name)
        queueMicrotask(() => {
          nowMs += takesMs
        })
      }),
  }
}

/** The tasks done in each turn of the loop, until none is left. */
const turnsOf = async (done: string[]): Promise<readonly string[]> => {
  const seen: string[] = [done.splice(0).join(' ')]
  for (let idle = 0; idle < 3;) {
    await nextTurn()
    const now = done.splice(0).join(' ')
    idle = now === '' ? idle + 1 : 0
    if (now !== '') seen.push(now)
  }
  return seen
}

it('does at once what comes alone', async () => {
  const { done, ask } = fixture(1)
  for (const name of ['a', 'b', 'c']) {
    ask(name, 50)
    expect(done.splice(0)).toEqual([name])
    await nextTurn()
    await nextTurn()
  }
})

it('does as much in a turn as it has time for, and the rest in the next ones, in order', async () => {
  const { done, ask } = fixture(10)
  for (const name of 'abcdefgh') ask(name, 4)
  expect(await turnsOf(done)).toEqual(['a b c', 'd e f', 'g h'])
})

it('lets everything else have its turn between two that take long', async () => {
  const { done, ask } = fixture(1)
  for (const name of ['a', 'b', 'c']) ask(name, 30)
  let others = 0
  const other = (): void => {
    others += 1
    if (done.length < 3) setImmediate(other)
  }
  setImmediate(other)
  expect(done).toEqual(['a'])
  while (done.length < 3) await nextTurn()
  expect(others).toBeGreaterThanOrEqual(2)
})

it('counts what a request leaves to be done right after it', async () => {
  const { done, askInParts } = fixture(10)
  askInParts('first', 20)
  await Promise.resolve()
  for (const name of ['a', 'b', 'c', 'd', 'e']) askInParts(name, 4)
  expect(await turnsOf(done)).toEqual(['first', 'a b c', 'd e'])
})

it('serves newcomers after those who wait', async () => {
  const { done, ask } = fixture(1)
  ask('a', 5)
  ask('b', 5)
  await nextTurn()
  ask('c', 5)
  expect(await turnsOf(done)).toEqual(['a', 'b', 'c'])
})

it('serves one in each turn, however short it is', async () => {
  const { done, ask } = fixture(0)
  for (const name of 'abc') ask(name, 0)
  expect(await turnsOf(done)).toEqual(['a', 'b', 'c'])
})

it('has no end to how many may wait', async () => {
  const { done, ask } = fixture(1_000_000)
  ask('first', 1_000_000)
  const names = Array.from({ length: 1000 }, (_, index) => String(index))
  for (const name of names) ask(name, 0)
  expect((await turnsOf(done)).flatMap((turn) => turn.split(' '))).toEqual(['first', ...names])
})
