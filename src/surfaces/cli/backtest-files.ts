import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { BacktestReport } from '../../backtest/report.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { Invocation } from './command.ts'
import { encoderFor, exists, fileExists, writeWholeFile, type ItemForms } from './exporting.ts'
import { cannotWrite } from './failure.ts'

/** A file that a run writes; one that exists stays as it is without `force`. */
export interface OutputFile {
  readonly path: string
  readonly force: boolean
}

/** Before the work, not only after it. */
export const refuseUnwritable = async (files: readonly OutputFile[]): Promise<void> => {
  for (const { path, force } of files) {
    if (!force && (await exists(path))) throw fileExists(path)
    await access(dirname(path), constants.W_OK).catch((error: unknown) => {
      throw cannotWrite(path, error)
    })
  }
}

/** The report as a page. */
export const writePage = async (
  { path, force }: OutputFile,
  reports: readonly BacktestReport[],
  leftOut: readonly string[],
): Promise<void> => {
  const { reportPage } = await import('../../backtest/html/page.ts')
  await writeWholeFile(path, { force }, (write) => write(reportPage({ reports, leftOut })))
}

/** Runs and writes every event of the run, as JSON lines or as Parquet, whichever the name says. */
export const writingEvents = <Result>(
  invocation: Invocation,
  { path, force }: OutputFile,
  run: (onEvents: (events: readonly Stamped[]) => void) => Promise<Result>,
): Promise<Result> =>
  writeWholeFile(path, { force }, async (write) => {
    const format = path.toLowerCase().endsWith('.parquet') ? 'parquet' : 'jsonl'
    const encoder = await encoderFor(invocation, RUN_EVENTS, format)
    let held: Stamped[] = []
    let written: Promise<void> = Promise.resolve()
    const flush = (): void => {
      const events = held
      held = []
      written = written.then(async () => write(await encoder.add(events)))
      // Reported where it is awaited, after the run.
      written.catch(() => undefined)
    }
    const result = await run((events) => {
      held.push(...events)
      if (held.length >= GROUP_EVENTS) flush()
    })
    flush()
    await written
    await write(await encoder.end())
    return result
  })

const GROUP_EVENTS = 10_000

/** With the names of `svc export events`; a run has no chain and no signatures. */
const recordOf = (event: Stamped) => ({
  seq: event.seq,
  id: event.id,
  type: event.type,
  ts: event.ts,
  source: event.source,
  trace_id: event.traceId,
  dedupe_key: event.dedupeKey,
  payload: event.payload,
  recorded_at: event.recordedAt,
})

const RUN_EVENTS: ItemForms<Stamped> = {
  jsonOf: (event) => JSON.stringify(recordOf(event)),
  columns: [
    { name: 'seq', type: 'integer' },
    { name: 'id', type: 'text' },
    { name: 'type', type: 'text' },
    { name: 'ts', type: 'time' },
    { name: 'source', type: 'text' },
    { name: 'trace_id', type: 'text' },
    { name: 'dedupe_key', type: 'text' },
    { name: 'payload', type: 'text' },
    { name: 'recorded_at', type: 'time' },
  ],
  cellsOf: (event) => Object.values({ ...recordOf(event), payload: JSON.stringify(event.payload) }),
}
