import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConfigurationStore } from '../../src/adapters/platform/config-file/configuration-store.ts'
import { createLogger } from '../../src/adapters/platform/logger/logger.ts'
import type { QueuedRuns } from '../../src/backtest/runs/queued-runs.ts'
import type { Run } from '../../src/backtest/runs/runs.ts'
import { environmentOf } from '../../src/compose/environment.ts'
import { openQueuedBacktests, openSharedRuns, openWorker } from '../../src/compose/queued-backtests.ts'
import { sweepCommand } from '../../src/compose/sweep.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import type { JobQueue } from '../../src/ports/job-queue.ts'
import { sweepRequest, sweepRequestOf } from '../../src/surfaces/backtest-wire.ts'
import { postgresMissing, sharedPostgres } from './server.fixture.ts'
import { createWorkers, VERSION } from './workers.fixture.ts'

const BY = { owner: 'token', isOperator: false }

const SWEEP = { strategy: 'ma_crossover', data: ['binance:BTC:1h'], set: ['fast=2,4,6', 'slow=10,20'] }
const BACKTEST = { strategy: 'ma_crossover', data: ['binance:BTC:1h'] }

describe.skipIf(postgresMissing !== null)(
  `workers of one queue (${postgresMissing ?? 'PostgreSQL'})`,
  { timeout: 240_000 },
  () => {
    let url: string
    let configuration: Configuration
    let home: string
    let queue: JobQueue
    let runs: QueuedRuns
    const { emptyHome, newHome, endWorkers, removeHomes, startWorker: start } = createWorkers()
    const startWorker = (folder: string, version = VERSION) => start(folder, url, version)

    const optionsFor = (folder: string, write: (line: string) => void = () => undefined) => ({
      environment: environmentOf(folder, { SVC_STORE__URL: url }, VERSION),
      configuration: () => configuration,
      logger: createLogger({
        level: 'ERROR',
        jsonOutput: true,
        secrets: [],
        clock: environmentOf(folder, {}, VERSION).clock,
        write,
      }),
      inMemory: false,
    })

    beforeEach(async () => {
      url = await (await sharedPostgres()).freshDatabase()
      home = await newHome()
      const opened = await openConfigurationStore({ home, env: { SVC_STORE__URL: url } })
      if (opened.status === 'invalid') throw new Error(opened.problems.join('; '))
      configuration = opened.store.current()
      ;({ queue, runs } = await openSharedRuns(optionsFor(home)))
    })
    afterEach(async () => {
      await endWorkers()
      await runs.close()
      await queue.close()
      await removeHomes()
    })

    const submit = async (kind: Run['kind'], request: JsonObject): Promise<string> => {
      const submitted = await runs.submit(kind, request, BY)
      if (submitted.status !== 'accepted') throw new Error(JSON.stringify(submitted))
      return submitted.run.id
    }
    const statusOf = async (id: string): Promise<string | undefined> => (await runs.get(id))?.status
    /** Writes a strategy of the user into the home of the service only. */
    const writeOwn = async (onBar: string): Promise<void> => {
      await mkdir(join(home, 'strategies'), { recursive: true })
      const rest = `timeframes: ['1h'], parameters: z.object({}), warmUpBars: 1, create: () => ({ onBar: ${onBar} })`
      const code = `import { z } from 'zod'\nexport default { name: 'own', description: 'own', ${rest} }`
      await writeFile(join(home, 'strategies', 'own.js'), code)
    }
    const LONG = { timeout: 120_000, interval: 200 }

    it('lose nothing when one of them is killed, and come to the result of one machine alone', async () => {
      const id = await submit('sweep', SWEEP)
      const { child } = await startWorker(await newHome())
      await expect.poll(() => statusOf(id), LONG).toBe('running')
      // Stopped in the middle: some of the sweep's runs are done, and one is running.
      await expect
        .poll(async () => (await queue.list('trials', 100)).some(({ state }) => state === 'done'), LONG)
        .toBe(true)
      await expect
        .poll(async () => (await queue.list('trials', 100)).some(({ state }) => state === 'running'), LONG)
        .toBe(true)
      const ended = (await queue.list('trials', 100)).find(({ state }) => state === 'done')
      // Results omit members that a sweep does not read, because there may be thousands of runs.
      expect((await queue.get('trials', ended?.id ?? ''))?.output).toMatchObject({
        result: { days: expect.any(Number), closed_trades: [], chart: { equity: [] } },
      })
      child.kill('SIGKILL')
      await startWorker(await newHome())
      await expect.poll(() => statusOf(id), LONG).toBe('done')
      const run = await runs.get(id)
      expect(run).toMatchObject({ attempts: 2, progress: 1, error: null })
      const alone = await sweepCommand(sweepRequestOf(sweepRequest.parse(SWEEP)), {
        home,
        version: VERSION,
        configuration,
      })
      const options = { workers: 1, startsAnew: true, heat: null, onProgress: () => undefined }
      expect(run?.result).toEqual(await alone.run(options))
      expect(run).toMatchObject({ verdict: expect.stringMatching(/parameter sets/) })
      // Only the result of the sweep is kept; its runs are removed.
      await expect.poll(() => queue.list('trials', 100), LONG).toEqual([])
    })

    it('go on with a sweep that one of them leaves when it is stopped, or that failed', async () => {
      const id = await submit('sweep', { ...SWEEP, set: ['fast=2..7', 'slow=10,20'] })
      const stopped = await startWorker(await newHome())
      const trials = () => queue.list('trials', 100)
      await expect.poll(async () => (await trials()).some(({ state }) => state === 'done'), LONG).toBe(true)
      stopped.child.kill('SIGTERM')
      await once(stopped.child, 'exit')
      expect((await trials()).filter(({ state }) => state === 'cancelled')).toEqual([])
      const open = (await trials()).find(({ state }) => state === 'queued')
      // Cancels a run, as the failure of another run of the sweep would.
      if (open === undefined) throw new Error('nothing is left')
      await queue.cancel('trials', open.id)
      await startWorker(await newHome())
      await expect.poll(() => statusOf(id), LONG).toBe('done')
    })

    it('need a queue, which a log in a file has not', async () => {
      const environment = environmentOf(home, {}, VERSION)
      const alone = { ...configuration, store: { ...configuration.store, url: '' } }
      const worker = openWorker({ environment, configuration: alone, width: 1, onError: () => undefined })
      await expect(worker).rejects.toThrow('this home has its log in a file')
    })

    it('give back what they cannot come to the same result with, for one that can', async () => {
      const id = await submit('backtest', BACKTEST)
      const other = await startWorker(await newHome(99))
      await expect
        .poll(() => other.said.join('\n'), LONG)
        .toContain('bars or own code of this worker are not those that were meant')
      const older = await startWorker(await newHome(), '1.2.2')
      await expect.poll(() => older.said.join('\n'), LONG).toContain('this worker is of version 1.2.2')
      await expect
        .poll(() => runs.get(id), LONG)
        .toMatchObject({ status: 'queued', error: { code: 'backtest.no_worker' } })
      for (const { child } of [other, older]) child.kill('SIGTERM')
      await startWorker(await newHome())
      await expect.poll(() => statusOf(id), LONG).toBe('done')
      expect(await runs.get(id)).toMatchObject({ figures: { days: expect.any(Number) } })
    })

    it('leave to others what they have no bars or no strategy for, however often they are asked', async () => {
      await writeOwn('() => null')
      const withoutBars = await submit('backtest', BACKTEST)
      const withoutCode = await submit('backtest', { ...BACKTEST, strategy: 'own' })
      const bare = await startWorker(await emptyHome())
      await expect.poll(() => bare.said.join('\n'), LONG).toContain('there are no bars of BTC')
      const other = await startWorker(await newHome())
      // The second job is later than the first, and is started all the same.
      await expect.poll(() => other.said.join('\n'), LONG).toContain('own code of this worker')
      await expect.poll(() => runs.get(withoutBars), LONG).toMatchObject({ status: 'done', attempts: 1 })
      expect(await runs.get(withoutCode)).toMatchObject({ status: 'queued', attempts: 0 })
      await startWorker(home)
      await expect.poll(() => runs.get(withoutCode), LONG).toMatchObject({ status: 'done', attempts: 1 })
    })

    it('need the code of a run on the log as well', async () => {
      await writeOwn('() => null')
      const id = await submit('backtest', { strategy: 'own', recorded: true })
      const other = await startWorker(await newHome())
      await expect.poll(() => other.said.join('\n'), LONG).toContain('own code of this worker')
      await expect
        .poll(() => runs.get(id), LONG)
        .toMatchObject({ status: 'queued', error: { code: 'backtest.no_worker' } })
    })

    it('end a run whose result the database does not store, and compute it once', async () => {
      await writeOwn(`() => ({ side: 'long', size: 0.1, reason: 'a\\u0000b' })`)
      const id = await submit('backtest', { ...BACKTEST, strategy: 'own' })
      await startWorker(home)
      await expect.poll(() => statusOf(id), LONG).toBe('failed')
      expect(await runs.get(id)).toMatchObject({
        attempts: 1,
        error: { code: 'internal.error', message: expect.stringContaining('the result cannot be stored') },
      })
    })

    it('notice code that is written or changed between two runs', async () => {
      const lines: string[] = []
      const service = openQueuedBacktests(optionsFor(home, (line) => lines.push(line)))
      const resultOf = async (request: JsonObject) => {
        const submitted = await service.submit('backtest', request, BY)
        if (submitted.status !== 'accepted') throw new Error(JSON.stringify(submitted))
        const read = () => service.get(submitted.run.id)
        await expect.poll(async () => (await read())?.status, LONG).toBe('done')
        return (await read())?.result
      }
      try {
        await resultOf(BACKTEST)
        await writeOwn(`() => ({ side: 'long', size: 0.1 })`)
        const long = await resultOf({ ...BACKTEST, strategy: 'own' })
        await writeOwn(`() => ({ side: 'short', size: 0.1 })`)
        const short = await resultOf({ ...BACKTEST, strategy: 'own' })
        expect(short).not.toEqual(long)
        expect(lines.filter((line) => line.includes('given back'))).toEqual([])
      } finally {
        await service.close()
      }
    })

    it('work for a service that works itself, are bounded, and stop what is cancelled', async () => {
      const small = { ...configuration, backtests: { max_queued: 1, keep: 1 } }
      const service = openQueuedBacktests({ ...optionsFor(home), configuration: () => small })
      try {
        const seen: string[] = []
        service.onChange(({ status }) => seen.push(status))
        const first = await service.submit('backtest', BACKTEST, BY)
        if (first.status !== 'accepted') throw new Error('it was not taken')
        expect(await service.submit('backtest', BACKTEST, BY)).toEqual({ status: 'full', max: 1 })
        expect(await service.submit('backtest', { data: ['kraken:BTC:1h'] }, BY)).toMatchObject({
          status: 'refused',
          reason: expect.stringContaining('there are no bars of BTC of kraken'),
        })
        await expect.poll(async () => (await service.get(first.run.id))?.status, LONG).toBe('done')
        await expect.poll(() => seen.at(-1), LONG).toBe('done')
        const long = { strategy: 'hold', from: '2020-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }
        const second = await service.submit('backtest', long, BY)
        if (second.status !== 'accepted') throw new Error('it was not taken')
        await expect.poll(async () => (await service.get(second.run.id))?.status, LONG).toBe('running')
        expect(await service.cancel(second.run.id)).toBe('cancelled')
        // The worker drops the job that it no longer holds, and takes the next one.
        const third = await service.submit('backtest', BACKTEST, BY)
        if (third.status !== 'accepted') throw new Error('it was not taken')
        await expect.poll(async () => (await service.get(third.run.id))?.status, LONG).toBe('done')
        expect(await service.cancel(third.run.id)).toBe('removed')
        expect(await service.get(third.run.id)).toBeNull()
        expect(await service.get('no-id')).toBeNull()
        expect((await service.list('backtest')).length).toBeLessThanOrEqual(2)
      } finally {
        await service.close()
      }
    })
  },
)
