import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signerOf } from '../../src/adapters/platform/crypto/ed25519.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { interleave, loopDelayP99Ms, median, medianRatio, rateOf, type BenchRow } from '../harness.ts'
import { rawInsert, rawRowOf } from '../store/sqlite-raw.ts'
import { benchSigner, openBed, saturate } from './saturate.ts'

const CALLERS = 256
const COMMANDS = 40_000
const IDLE_MS = 1000
/** Until every thread runs translated code: a service runs for weeks. */
const WARM_UP_COMMANDS = 15_000

/** Durable, signed, chained appends through the engine: what a client of the public API gets. */
export const benchEngineAppend = async (rounds = 7): Promise<readonly BenchRow[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-engine-'))
  const signer = benchSigner()
  let round = 0
  let records: readonly LogRecord[] = []
  try {
    const measured = await interleave(rounds, {
      signed: async () => {
        round += 1
        const bed = await openBed(join(folder, `signed-${round}.db`), signer)
        await saturate(bed.engine, CALLERS, WARM_UP_COMMANDS)
        const rate = await rateOf(COMMANDS, () => saturate(bed.engine, CALLERS, COMMANDS))
        records = await allOf(bed.engine.log)
        await bed.close()
        return rate
      },
      raw: () => {
        const rows = records.map(rawRowOf)
        return rateOf(rows.length, () => rawInsert(join(folder, `raw-${round}.db`), rows, CALLERS))
      },
      sign: () => signRate(records.slice(0, 5000).map(({ payload }) => payload)),
      alone: async () => {
        const bed = await openBed(join(folder, `alone-${round}.db`), signer)
        const rate = await rateOf(500, () => saturate(bed.engine, 1, 500))
        await bed.close()
        return rate
      },
    })
    return [
      row(
        'T1',
        medianRatio(measured.signed, measured.raw),
        '>= 0.20',
        `signed appends/s, ${CALLERS} callers`,
        'raw inserts of the same rows, same batch',
      ),
      row(
        'T1b',
        medianRatio(measured.signed, measured.sign),
        '',
        `signed appends/s, ${CALLERS} callers`,
        `Ed25519 signatures/s, one thread (node:crypto)`,
      ),
      row(
        'T5',
        medianRatio(measured.signed, measured.alone),
        '',
        `appends/s, ${CALLERS} callers`,
        'one caller, on this disk',
      ),
      row(
        'T1/s',
        median(measured.signed),
        '',
        `signed appends/s, ${CALLERS} callers`,
        'plain figure of this machine',
      ),
      await benchLoopDelay(folder, rounds),
    ]
  } finally {
    await signer.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** How long others wait for the event loop while the engine is saturated. */
const benchLoopDelay = async (folder: string, rounds: number): Promise<BenchRow> => {
  const signer = benchSigner()
  const bed = await openBed(join(folder, 'delay.db'), signer)
  await saturate(bed.engine, CALLERS, WARM_UP_COMMANDS)
  const delays = await interleave(rounds, {
    idle: () => loopDelayP99Ms(() => sleep(IDLE_MS)),
    busy: () => loopDelayP99Ms(() => saturate(bed.engine, CALLERS, COMMANDS)),
  })
  await bed.close()
  await signer.close()
  return row(
    'T11',
    medianRatio(delays.busy, delays.idle),
    '<= 8',
    'event-loop delay p99 at saturation',
    'idle loop in the same round',
  )
}

const signRate = (texts: readonly string[]): Promise<number> => {
  const sign = signerOf(Buffer.alloc(32, 7))
  return rateOf(texts.length, () => texts.forEach((text) => sign(text)))
}

const allOf = async (log: EventLog): Promise<readonly LogRecord[]> => {
  const { seq } = await log.head()
  const records: LogRecord[] = []
  for await (const page of log.scan({ after: 0, upTo: seq })) records.push(...page)
  return records
}

const row = (id: string, value: number, target: string, what: string, baseline: string): BenchRow => ({
  id,
  value,
  target,
  what,
  baseline,
})
