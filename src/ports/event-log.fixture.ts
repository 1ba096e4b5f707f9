import { afterEach } from 'vitest'
import type { LogRecord } from '../core/log/event.ts'
import type { EventLog } from './event-log.ts'

export interface EventLogHarness {
  /** Opens a new, empty log. */
  open(): Promise<EventLog>
  /** Closes this log and opens it again. Absent if nothing is stored permanently. */
  reopen?(log: EventLog): Promise<EventLog>
  /** Another handle on the same log, as another process would have it. */
  second?(log: EventLog): Promise<EventLog>
  /** Changes stored data without the log's knowledge. */
  tamper?(log: EventLog, change: Tampering): Promise<void>
  /** Number of keys at which the adapter moves old ones elsewhere. */
  readonly manyKeys?: number
}

/** Columns are named as in LogRecord. */
export type Tampering =
  | { readonly kind: 'change'; readonly seq: number; readonly columns: Partial<Omit<LogRecord, 'seq'>> }
  | { readonly kind: 'delete'; readonly seq: number }
  | { readonly kind: 'renumber'; readonly seq: number; readonly to: number }

/** The harness as the tests use it: every log is closed after its test. */
export interface Logs {
  readonly name: string
  readonly can: {
    readonly reopen: boolean
    readonly second: boolean
    readonly tamper: boolean
  }
  readonly manyKeys: number | null
  open(): Promise<EventLog>
  reopen(log: EventLog): Promise<EventLog>
  second(log: EventLog): Promise<EventLog>
  tamper(log: EventLog, change: Tampering): Promise<void>
}

export const logsOf = (name: string, harness: EventLogHarness): Logs => {
  const opened: EventLog[] = []
  const keep = async (opening: Promise<EventLog> | undefined): Promise<EventLog> => {
    if (opening === undefined) throw new Error('the harness cannot do this')
    const log = await opening
    opened.push(log)
    return log
  }
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((log) => log.close()))
  })
  return {
    name,
    can: {
      reopen: harness.reopen !== undefined,
      second: harness.second !== undefined,
      tamper: harness.tamper !== undefined,
    },
    manyKeys: harness.manyKeys ?? null,
    open: () => keep(harness.open()),
    reopen: (log) => keep(harness.reopen?.(log)),
    second: (log) => keep(harness.second?.(log)),
    tamper: async (log, change) => harness.tamper?.(log, change),
  }
}

export const everything = (log: EventLog): Promise<readonly LogRecord[]> =>
  log.read({ order: 'asc', limit: 100_000 })
