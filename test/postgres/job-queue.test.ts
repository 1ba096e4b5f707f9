import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPostgresJobQueue } from '../../src/adapters/storage/postgres/postgres-job-queue.ts'
import { QueuedRuns, RUNS_QUEUE } from '../../src/backtest/runs/queued-runs.ts'
import type { JobQueue, TakenJob } from '../../src/ports/job-queue.ts'
import { postgresMissing, sharedPostgres } from './server.fixture.ts'

const LONG = { timeout: 60_000, interval: 100 }

describe.skipIf(postgresMissing !== null)(
  `a job in a queue (${postgresMissing ?? 'PostgreSQL'})`,
  { timeout: 120_000 },
  () => {
    let url: string
    let queue: JobQueue
    const opened: JobQueue[] = []

    /** Opens the queue as another process would. */
    const open = async (leaseSeconds: number): Promise<JobQueue> => {
      const other = await openPostgresJobQueue({
        url,
        leaseSeconds,
        onError: () => undefined,
      })
      opened.push(other)
      return other
    }
    const send = async (): Promise<string> => {
      const id = randomUUID()
      await queue.send(RUNS_QUEUE, id, { kind: 'backtest', request: {} })
      return id
    }
    const taken = async (by: JobQueue): Promise<TakenJob> => {
      let job: TakenJob | null = null
      await expect
        .poll(async () => {
          job ??= await by.take(RUNS_QUEUE)
          return job
        }, LONG)
        .not.toBeNull()
      if (job === null) throw new Error('there is none')
      return job
    }
    const read = (id: string) => queue.get(RUNS_QUEUE, id)
    const asked = async (text: string, id: string): Promise<readonly unknown[]> => {
      const client = new Client({ connectionString: url })
      await client.connect()
      try {
        return (await client.query(text, [id])).rows
      } finally {
        await client.end()
      }
    }
    beforeEach(async () => {
      url = await (await sharedPostgres()).freshDatabase()
      queue = await open(600)
    })
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close()
    })

    it('is taken once, however many ask for it at the same time', async () => {
      const other = await open(600)
      const ids = await Promise.all(Array.from({ length: 12 }, () => send()))
      const jobs = await Promise.all(
        Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? queue : other).take(RUNS_QUEUE)),
      )
      expect(jobs.flatMap((job) => job?.id ?? []).toSorted()).toEqual(ids.toSorted())
    })

    it('is not changed by somebody who lost it', async () => {
      const id = await send()
      const slow = await taken(queue)
      // Ages the job as if its worker had stood still for an hour.
      await asked("UPDATE svc_jobs.jobs SET renewed_at = now() - interval '1 hour' WHERE id = $1", id)
      const next = await taken(await open(3))
      expect(next.id).toBe(id)
      expect(await queue.renew(slow, 0.5)).toBe(false)
      await queue.fail(slow, 'too late')
      await queue.giveBack(slow, 'too late')
      await queue.complete(slow, { result: 'of the first' })
      expect(await read(id)).toMatchObject({ state: 'running', attempts: 2 })
      await queue.complete(next, { result: 'of the second' })
      await queue.fail(slow, 'too late')
      expect(await read(id)).toMatchObject({ state: 'done', output: { result: 'of the second' } })
    })

    it('may fail as often as before after it was given back', async () => {
      const id = await send()
      for (let count = 0; count < 6; count += 1) await queue.giveBack(await taken(queue), 'unfit')
      expect(await read(id)).toMatchObject({ state: 'queued', attempts: 0, output: { message: 'unfit' } })
      for (let failures = 1; failures <= 5; failures += 1) {
        await queue.fail(await taken(queue), 'it went wrong')
        expect(await read(id)).toMatchObject({ state: 'queued', attempts: failures })
      }
      await queue.fail(await taken(queue), 'it went wrong')
      expect(await read(id)).toMatchObject({ state: 'failed', output: { message: 'it went wrong' } })
    })

    it('waits for another worker when its own stands still, and fails after six of them', async () => {
      const id = await send()
      for (let attempts = 1; attempts <= 6; attempts += 1) {
        expect(await queue.take(RUNS_QUEUE)).toMatchObject({ id })
        await asked("UPDATE svc_jobs.jobs SET renewed_at = now() - interval '1 hour' WHERE id = $1", id)
        expect(await read(id)).toMatchObject({ state: 'queued', attempts, endedAt: null })
      }
      expect(await queue.countOpen(RUNS_QUEUE)).toBe(1)
      expect(await queue.take(RUNS_QUEUE)).toBeNull()
      expect(await read(id)).toMatchObject({
        state: 'failed',
        output: { message: 'no worker finished it in time' },
      })
      expect(await queue.countOpen(RUNS_QUEUE)).toBe(0)
    })

    it('does not hold up the others where nobody can work on it', async () => {
      const unfit = await send()
      const next = await send()
      const first = await taken(queue)
      expect(first.id).toBe(unfit)
      await queue.giveBack(first, 'unfit')
      expect(await queue.take(RUNS_QUEUE, [unfit])).toMatchObject({ id: next })
      expect(await queue.take(RUNS_QUEUE, [unfit])).toBeNull()
      expect(await queue.take(RUNS_QUEUE)).toMatchObject({ id: unfit })
    })

    it('that ends while it is cancelled was not cancelled', async () => {
      const id = await send()
      const job = await taken(queue)
      const slowToRead: JobQueue = {
        ...queue,
        get: async (...key) => {
          const before = await queue.get(...key)
          await queue.complete(job, { result: {} })
          return before
        },
      }
      const runs = new QueuedRuns({
        queue: slowToRead,
        clock: { newId: randomUUID },
        settings: () => ({ max_queued: 10, keep: 10 }),
        prepare: () => Promise.resolve({}),
        onError: () => undefined,
      })
      expect(await runs.cancel(id)).toBe('removed')
      expect(await read(id)).toBeNull()
    })

    it('that cannot be read is an error once, until it can be read again', async () => {
      let looks = 0
      const away: JobQueue = {
        ...queue,
        list: () => ((looks += 1) === 4 ? Promise.resolve([]) : Promise.reject(new Error('away'))),
      }
      const errors: string[] = []
      const runs = new QueuedRuns({
        queue: away,
        clock: { newId: randomUUID },
        settings: () => ({ max_queued: 10, keep: 10 }),
        prepare: () => Promise.resolve({}),
        onError: (what) => errors.push(what),
      })
      runs.onChange(() => undefined)
      await expect.poll(() => looks, { timeout: 60_000 }).toBeGreaterThan(6)
      await runs.close()
      expect(errors).toEqual(['could not read the queue', 'could not read the queue'])
    })

    it('that was cancelled stays so, whatever its worker says', async () => {
      const id = await send()
      const job = await taken(queue)
      expect(await queue.cancel(RUNS_QUEUE, id)).toBe(true)
      expect(await queue.renew(job, 0.9)).toBe(false)
      await queue.complete(job, { result: {} })
      await queue.fail(job, 'too late')
      expect(await read(id)).toMatchObject({ state: 'cancelled' })
      expect(await queue.cancel(RUNS_QUEUE, id)).toBe(false)
    })
  },
)
