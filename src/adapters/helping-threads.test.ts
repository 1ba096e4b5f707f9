import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { standBack, threadFile } from './helping-threads.ts'

const HERE = import.meta.dirname

it('stands behind the thread that started it, which stays where it was', async () => {
  const before = getPriority()
  const code = `
    const { parentPort } = require('node:worker_threads')
    const { getPriority } = require('node:os')
    import('tsx/esm/api')
      .then(({ register }) => { register(); return import(${JSON.stringify(new URL('./helping-threads.ts', import.meta.url).href)}) })
      .then(({ standBack }) => { standBack(); parentPort.postMessage(getPriority(), []) })`
  const [behind] = (await once(new Worker(code, { eval: true }), 'message')) as [number]
  expect(behind - before).toBe(process.platform === 'linux' ? 10 : 0)
  expect(getPriority()).toBe(before)
})

it('stays where it is where priorities may not be changed', () => {
  const asked: number[] = []
  const forbidden = (priority: number): void => {
    asked.push(priority)
    throw new Error('EPERM: operation not permitted')
  }
  expect(() => standBack(forbidden)).not.toThrow()
  expect(asked).toHaveLength(process.platform === 'linux' ? 1 : 0)
})

it('is the first thing that every thread does but the one that writes', () => {
  const threads = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-thread.ts'))
    .map((name) => {
      const [, firstLine] = readFileSync(join(HERE, name), 'utf8').split('\n\n')
      return { name, standsBack: firstLine === 'standBack()' }
    })
  expect(threads.length).toBeGreaterThan(1)
  expect(threads.filter(({ standsBack }) => !standsBack).map(({ name }) => name)).toEqual([
    join('storage', 'sqlite', 'writer-thread.ts'),
  ])
})

it('finds the code of a thread beside the file that starts it, built or not', () => {
  expect(threadFile('./writer-thread.ts', 'file:///src/writer.ts').href).toBe('file:///src/writer-thread.ts')
  expect(threadFile('./writer-thread.ts', 'file:///dist/writer.js').href).toBe(
    'file:///dist/writer-thread.js',
  )
})
