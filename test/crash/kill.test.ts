import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import { catchUp, EMPTY_MEMORY, recall, stateHashOf } from '../../src/engine/memory.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { programOf } from '../program.ts'

/** Two lanes of this many kills; SVC_TEST_KILLS=500 for a long night. */
const KILLS_PER_LANE = Number(process.env['SVC_TEST_KILLS'] ?? 25)

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kill-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Starts a writer, lets it write for a moment after its first acknowledgement, and kills it. */
const killedWriter = async (path: string, writeMs: number): Promise<ReadonlyMap<number, string>> => {
  const writer = spawn(process.execPath, [programOf('crash/writer-process'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let told = ''
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  const ended = once(writer, 'close')
  await Promise.race([once(writer.stdout, 'data'), ended])
  await sleep(writeMs)
  writer.kill('SIGKILL')
  await ended
  // The last line may be cut: only whole ones were surely said.
  const lines = told.split('\n').slice(0, -1)
  return new Map(lines.map((line) => line.split(' ')).map(([seq, id = '']) => [Number(seq), id]))
}

const everything = async (log: EventLog): Promise<readonly LogRecord[]> => {
  const { seq } = await log.head()
  const records: LogRecord[] = []
  for await (const page of log.scan({ after: 0, upTo: seq })) records.push(...page)
  return records
}

/** A raise and its alert are one command: one without the other is half a batch. */
const expectWholeBatches = (records: readonly LogRecord[]): void => {
  for (const [index, { type, payload }] of records.entries()) {
    const raised = type === 'system.kill_switch.v1' && payload.includes('"triggered_by"')
    if (raised) expect(records[index + 1]?.type).toBe('alert.kill_switch')
    if (type === 'alert.kill_switch') expect(records[index - 1]?.type).toBe('system.kill_switch.v1')
  }
}

it.concurrent.each([1, 2])(
  'kill -9 at any moment loses nothing that was acknowledged (lane %i)',
  async (lane) => {
    const path = join(folder, `lane-${lane}.db`)
    const acknowledged = new Map<number, string>()
    for (let kill = 0; kill < KILLS_PER_LANE; kill += 1) {
      // Spread over a commit's life, the same in every run.
      const writeMs = (kill * 37 + lane * 11) % 120
      for (const [seq, id] of await killedWriter(path, writeMs)) acknowledged.set(seq, id)
      const log = await openSqliteLog({ path })
      const records = await everything(log)
      const lost = [...acknowledged].filter(([seq, id]) => records[seq - 1]?.id !== id)
      expect(lost, `after kill ${kill}`).toEqual([])
      expect(await log.verifyHashes({ after: 0, upTo: records.length })).toEqual({
        ok: true,
        checked: records.length,
      })
      expectWholeBatches(records)
      await log.close()
    }
    const log = await openSqliteLog({ path })
    const recalled = await catchUp(log, await recall(log))
    expect(stateHashOf(recalled.state)).toBe(stateHashOf((await catchUp(log, EMPTY_MEMORY)).state))
    expect(acknowledged.size).toBeGreaterThan(KILLS_PER_LANE)
    await log.close()
  },
  1_800_000,
)
