import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { LogRecord } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { programOf } from '../program.fixture.ts'

/** Events that a writer said were stored: ids by seq. */
export type Acknowledged = ReadonlyMap<number, string>

export interface KilledWriter {
  readonly path: string
  /** How long it writes after its first acknowledgement. */
  readonly writeMs: number
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a writer, lets it write for a moment, and kills it. */
export const killedWriter = async ({
  path,
  writeMs,
  environment = {},
}: KilledWriter): Promise<Acknowledged> => {
  const writer = spawn(process.execPath, [programOf('crash/writer-process'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  let reported = ''
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    reported += text
  })
  const ended = once(writer, 'close')
  await Promise.race([once(writer.stdout, 'data'), ended])
  await sleep(writeMs)
  writer.kill('SIGKILL')
  await ended
  // The last line may be cut: only whole ones were surely said.
  const lines = reported.split('\n').slice(0, -1)
  return new Map(lines.map((line) => line.split(' ')).map(([seq, id = '']) => [Number(seq), id]))
}

/** Everything in the log, after it was seen to be an unbroken chain of whole batches. */
export const soundRecords = async (log: EventLog): Promise<readonly LogRecord[]> => {
  const { seq } = await log.head()
  const records: LogRecord[] = []
  for await (const page of log.scan({ after: 0, upTo: seq })) records.push(...page)
  expect(await log.verifyHashes({ after: 0, upTo: seq })).toEqual({ ok: true, checked: records.length })
  expectWholeBatches(records)
  return records
}

export const lostOf = (acknowledged: Acknowledged, records: readonly LogRecord[]) =>
  [...acknowledged].filter(([seq, id]) => records[seq - 1]?.id !== id)

/** A raise and its alert are one command: one without the other is half a batch. */
const expectWholeBatches = (records: readonly LogRecord[]): void => {
  for (const [index, { type, payload }] of records.entries()) {
    const raised = type === 'system.kill_switch.v1' && payload.includes('"triggered_by"')
    if (raised) expect(records[index + 1]?.type).toBe('alert.kill_switch')
    if (type === 'alert.kill_switch') expect(records[index - 1]?.type).toBe('system.kill_switch.v1')
  }
}
