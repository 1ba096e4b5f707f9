import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { progressOn } from './progress.ts'

const watched = (isTTY: boolean) => {
  const written: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString())
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY }), written }
}

it('draws a bar over itself and takes it away at the end', () => {
  const { stream, written } = watched(true)
  const progress = progressOn(stream, 'verifying')
  progress.update(0, 4)
  progress.update(2, 4)
  progress.update(4, 4)
  progress.end()
  expect(written).toEqual([
    '\rverifying [........................] 0%\u001b[K',
    '\rverifying [############............] 50%\u001b[K',
    '\rverifying [########################] 100%\u001b[K',
    '\r\u001b[K',
  ])
})

it('draws only what looks different', () => {
  const { stream, written } = watched(true)
  const progress = progressOn(stream, 'x')
  for (let done = 0; done <= 1_000_000; done += 100) progress.update(done, 1_000_000)
  // A hundred steps of the number, and the few of the bar that fall between them.
  expect(written.length).toBeLessThan(130)
  expect(written.at(-1)).toContain('100%')
})

it('stays within its bounds, whatever it is told', () => {
  const { stream, written } = watched(true)
  const progress = progressOn(stream, 'x')
  progress.update(7, 5)
  progress.update(-1, 5)
  progress.update(0, 0)
  expect(written.map((line) => /(\d+)%/.exec(line)?.[1])).toEqual(['100', '0', '100'])
})

it('says nothing to a file or a pipe', () => {
  const { stream, written } = watched(false)
  const progress = progressOn(stream, 'x')
  progress.update(1, 2)
  progress.end()
  expect(written).toEqual([])
})
