import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { appendTo, headAfter, recordsAfter } from '../../../../test/records.ts'
import { StoreUnavailableError, type EventLog } from '../../../ports/event-log.ts'
import { openSqliteLog } from './sqlite-log.ts'

let folder: string
let log: EventLog

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writer-'))
  log = await openSqliteLog({ path: join(folder, 'events.db') })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await log.close()
  await rm(folder, { recursive: true, force: true })
})

/** The threads that are spoken to from now on. */
const watchThreads = (): ReadonlySet<Worker> => {
  const threads = new Set<Worker>()
  const post = Reflect.get(Worker.prototype, 'postMessage')
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...message) {
    threads.add(this)
    post.apply(this, message)
  })
  return threads
}

it('replaces a thread that was lost, and those who waited for it hear of it', async () => {
  const threads = watchThreads()
  const records = await appendTo(log, 5)
  const [thread] = threads
  const next = recordsAfter(headAfter(records), 2)
  const waiting = log.append(next, headAfter(records))
  const lost = new Promise((resolve) => thread!.once('exit', resolve))
  // Nothing the thread can make sense of: it ends by itself. Terminating one inside SQLite ends the whole process.
  thread!.postMessage(null, [])
  const behind = log.append(recordsAfter(headAfter(next), 2), headAfter(next))
  await lost
  const outcomes = await Promise.allSettled([waiting, behind])
  expect(outcomes.at(-1)).toMatchObject({ status: 'rejected' })
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreUnavailableError)
  }
  const more = await appendTo(log, 5)
  expect(threads.size).toBe(2)
  const { seq } = await log.head()
  expect(seq).toBe(headAfter(more).seq)
  expect(await log.verifyHashes({ after: 0, upTo: seq })).toEqual({ ok: true, checked: seq })
})

it('starts no thread for reading, and ends the one it started', async () => {
  const threads = watchThreads()
  await log.head()
  await log.read({ order: 'asc', limit: 10 })
  expect(threads.size).toBe(0)
  await appendTo(log, 1)
  const [thread] = threads
  const ended = new Promise((resolve) => thread!.once('exit', resolve))
  await log.close()
  expect(await ended).toBe(0)
})
