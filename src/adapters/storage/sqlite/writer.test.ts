import { mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { appendTo, headAfter, recordsAfter } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD, type Head, type LogRecord } from '../../../core/log/event.ts'
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

it('stores nothing that it could not acknowledge: where the file with the newest event cannot be written', async () => {
  const head = join(folder, 'events.db.head')
  await mkdir(head)
  const records = recordsAfter(EMPTY_HEAD, 2)
  await expect(log.append(records, EMPTY_HEAD)).rejects.toThrow(StoreUnavailableError)
  expect(await log.head()).toEqual(EMPTY_HEAD)
  await rmdir(head)
  expect(await log.append(records, EMPTY_HEAD)).toEqual({ status: 'appended' })
  expect(await readFile(head, 'utf8')).toContain(headAfter(records).hash)
})

describe('batches that wait for the disk together', () => {
  const three = () => {
    const first = recordsAfter(EMPTY_HEAD, 3)
    const second = recordsAfter(headAfter(first), 2)
    const third = recordsAfter(headAfter(second), 4)
    return [first, second, third] as const
  }
  // The thread is only being started, so all of them are there when it begins to listen.
  const appendAll = (batches: readonly (readonly LogRecord[])[], heads: readonly Head[]) =>
    Promise.allSettled(batches.map((batch, index) => log.append(batch, heads[index]!)))

  it('are all stored, in order', async () => {
    const [first, second, third] = three()
    const outcomes = await appendAll(
      [first, second, third],
      [EMPTY_HEAD, headAfter(first), headAfter(second)],
    )
    expect(outcomes).toEqual([0, 1, 2].map(() => ({ status: 'fulfilled', value: { status: 'appended' } })))
    expect(await log.verifyHashes({ after: 0, upTo: 9 })).toEqual({ ok: true, checked: 9 })
  })

  it('fail alone where one of them is wrong', async () => {
    const [first, second, third] = three()
    const repeated = second.map((record) => ({ ...record, id: first[0]!.id }))
    const outcomes = await appendAll(
      [first, repeated, third],
      [EMPTY_HEAD, headAfter(first), headAfter(second)],
    )
    expect(outcomes).toMatchObject([
      { status: 'fulfilled', value: { status: 'appended' } },
      { status: 'rejected' },
      { status: 'fulfilled', value: { status: 'head-moved' } },
    ])
    expect((await log.head()).seq).toBe(3)
    expect(await log.append(second, headAfter(first))).toEqual({ status: 'appended' })
  })

  it('are not joined where one does not follow on the other', async () => {
    const [first, second, third] = three()
    const outcomes = await appendAll(
      [first, third, second],
      [EMPTY_HEAD, headAfter(second), headAfter(first)],
    )
    expect(outcomes).toMatchObject([
      { value: { status: 'appended' } },
      { value: { status: 'head-moved' } },
      { value: { status: 'appended' } },
    ])
    const other = headAfter(recordsAfter(headAfter(second), 1))
    const [fourth, fifth] = [recordsAfter(headAfter(second), 1), recordsAfter(other, 1)]
    expect(
      await appendAll([fourth, fifth], [headAfter(second), { ...other, hash: 'f'.repeat(64) }]),
    ).toMatchObject([{ value: { status: 'appended' } }, { status: 'rejected' }])
  })
})
