import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../adapters/platform/clock/system-clock.ts'
import { LocalRuns } from '../backtest/runs/local-runs.ts'
import type { RunResult, RunWithResult } from '../backtest/runs/runs.ts'
import { TaskFailedError } from '../backtest/sweep/task.ts'
import { runFiles, runsInMemory } from './run-files.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-run-files-'))
})
afterEach(() => rm(folder, { recursive: true }))

const run: RunWithResult = {
  id: 'r1',
  kind: 'backtest',
  owner: 'token',
  status: 'queued',
  request: {},
  progress: 0,
  created_at: '2026-01-05T00:00:00.000Z',
  started_at: null,
  ended_at: null,
  attempts: 0,
  error: null,
  verdict: null,
  edge_found: null,
  figures: null,
  result: null,
}
const neverReported = (what: string): never => {
  throw new Error(what)
}

describe('a run that changes while it is being stored', () => {
  // Covers a run that starts right after its submission, or is cancelled right after its start.
  it('is stored as it was last', async () => {
    const files = runFiles(folder, neverReported)

    const statuses = ['queued', 'running', 'cancelled'] as const
    await Promise.all(statuses.map((status) => files.save({ ...run, status })))

    expect(await files.load()).toMatchObject([{ id: 'r1', status: 'cancelled' }])
    expect(await readdir(folder)).toEqual(['r1.json'])
  })

  it('stays removed', async () => {
    const files = runFiles(folder, neverReported)

    await Promise.all([files.save(run), files.remove('r1')])

    expect(await readdir(folder)).toEqual([])
  })

  it('is stored after an attempt that failed', async () => {
    const files = runFiles(folder, neverReported)
    const circular: Record<string, unknown> = {}
    circular['itself'] = circular

    await expect(files.save({ ...run, request: circular as RunWithResult['request'] })).rejects.toThrow(
      'circular',
    )
    await files.save(run)

    expect(await files.load()).toMatchObject([{ id: 'r1' }])
  })
})

describe('what a service that was killed left behind', () => {
  it('is removed by the next one, unless somebody may still be writing it', async () => {
    const old = 'old.json.0b6a2c1e-5d4f-4a3b-9c8d-7e6f5a4b3c2d.part'
    for (const name of [old, 'new.json.78.part', 'notes.part']) await writeFile(join(folder, name), '{')
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000)
    for (const name of [old, 'notes.part']) await utimes(join(folder, name), hoursAgo, hoursAgo)

    expect(await runFiles(folder, neverReported).load()).toEqual([])

    expect(await readdir(folder)).toEqual(['new.json.78.part', 'notes.part'])
  })
})

describe('runs in memory', () => {
  const failing = (): Promise<RunResult> => Promise.reject(new TaskFailedError('backtest.no_bars', 'none'))
  const open = () =>
    LocalRuns.open({
      store: runsInMemory(),
      clock: createSystemClock(),
      settings: () => ({ max_queued: 10, keep: 10 }),
      check: () => Promise.resolve(),
      work: failing,
      onError: neverReported,
    })

  // A few turns of the microtask queue lie between the last check for work and the moment at which the worker is marked
  // idle.
  it('begin at whatever point before them the last one ended', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const runs = await open()
      let submitted = Promise.resolve()
      const second = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
        await runs.submit('backtest', {}, { owner: 'token', isOperator: false })
      }
      const stop = runs.onChange(({ status }) => {
        if (status !== 'failed') return
        stop()
        submitted = second()
      })
      await runs.submit('backtest', {}, { owner: 'token', isOperator: false })
      await new Promise((resolve) => setImmediate(resolve))
      await submitted
      await new Promise((resolve) => setImmediate(resolve))
      const statuses = (await runs.list('backtest')).map(({ status }) => status)
      expect({ turns, statuses }).toEqual({ turns, statuses: ['failed', 'failed'] })
      await runs.close()
    }
  })
})
