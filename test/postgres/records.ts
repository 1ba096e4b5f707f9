import { hash as digest, randomUUID } from 'node:crypto'
import { headOf, type Head, type LogRecord } from '../../src/core/log/event.ts'
import { chain } from '../../src/core/log/hash-chain.ts'
import type { JsonObject } from '../../src/core/vocabulary/json.ts'
import type { EventLog } from '../../src/ports/event-log.ts'

export interface Draft {
  readonly type: string
  readonly payload?: JsonObject
  readonly ts?: string
  readonly source?: string
  readonly traceId?: string
  readonly dedupeKey?: string
}

/** A batch that links to `head`, as the engine would hand it over. */
export const recordsBehind = (head: Head, drafts: readonly Draft[]): readonly LogRecord[] => {
  const now = new Date().toISOString()
  const events = drafts.map((draft, index) => ({
    seq: head.seq + 1 + index,
    id: randomUUID(),
    type: draft.type,
    ts: draft.ts ?? now,
    source: draft.source ?? null,
    traceId: draft.traceId ?? null,
    dedupeKey: draft.dedupeKey ?? null,
    payload: draft.payload ?? {},
    recordedAt: now,
  }))
  return chain(events, head, sha256Hex).map((record) => ({ ...record, signature: null, signer: null }))
}

export const headAfter = (records: readonly LogRecord[]): Head => {
  const last = records.at(-1)
  if (last === undefined) throw new Error('an empty batch has no head')
  return headOf(last)
}

/** Appends behind whatever head the log has, again and again until nobody else was faster. */
export const appendBehindHead = async (
  log: EventLog,
  drafts: readonly Draft[],
): Promise<readonly LogRecord[]> => {
  for (;;) {
    const head = await log.head()
    const records = recordsBehind(head, drafts)
    const { status } = await log.append(records, head)
    if (status === 'appended') return records
  }
}

/** All records of the log, in order. */
export const everything = async (log: EventLog): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = []
  for await (const page of log.scan({ after: 0, upTo: (await log.head()).seq })) records.push(...page)
  return records
}

const sha256Hex = (text: string): string => digest('sha256', text, 'hex')
