import { CATALOGUE, type EventType, type PayloadOf } from '../../core/events/catalogue.ts'
import { domainOf, type LogRecord } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'

/** A stored event whose payload matches its type. */
export interface SoundEvent<Type extends EventType> {
  readonly seq: number
  readonly id: string
  readonly ts: string
  readonly payload: PayloadOf<Type>
}

/** Returns the event, or nothing for a record of another type or a damaged one, which verification reports. */
export const soundEvents = <Type extends EventType>(
  record: LogRecord,
  type: Type,
): readonly SoundEvent<Type>[] => {
  const parsed = record.type === type ? CATALOGUE[type].safeParse(payloadOf(record)) : null
  if (parsed?.success !== true) return []
  return [{ seq: record.seq, id: record.id, ts: record.ts, payload: parsed.data as PayloadOf<Type> }]
}

/**
 * Events about an id, oldest first. Signals of clients may name any id, so only one type that this engine writes is
 * read.
 */
export const oldestAbout = async <Type extends EventType>(
  log: EventLog,
  id: string,
  type: Type,
  limit: number,
): Promise<readonly SoundEvent<Type>[]> => {
  const records = await log.read({ about: id, types: [domainOf(type)], order: 'asc', limit })
  return records.flatMap((record) => soundEvents(record, type))
}

export interface Search<Type extends EventType> {
  readonly type: Type
  readonly order: 'asc' | 'desc'
  readonly wantedMax: number
}

const STEP = 20
const EXAMINED_MAX = 1000

/** Matching events about an id. Matches usually come first, so pages are small. */
export const searchAbout = async <Type extends EventType>(
  log: EventLog,
  id: string,
  { type, order, wantedMax }: Search<Type>,
  isMatch: (payload: PayloadOf<Type>) => boolean,
): Promise<readonly SoundEvent<Type>[]> => {
  const found: SoundEvent<Type>[] = []
  let examined = 0
  for await (const page of readPages(log, { about: id, types: [domainOf(type)], order, limit: STEP })) {
    const sound = page.flatMap((record) => soundEvents(record, type))
    found.push(...sound.filter(({ payload }) => isMatch(payload)))
    examined += page.length
    if (examined >= EXAMINED_MAX || found.length >= wantedMax) break
  }
  return found.slice(0, wantedMax)
}
