import { payloadOf } from '../../core/views/log.ts'
import { stampedFrom, type LogRecord, type Stamped } from '../../core/log/event.ts'
import type { EventLog } from '../../ports/event-log.ts'

/** A damaged payload is reported by verification; here it says nothing. */
export const readable = (record: LogRecord): Stamped =>
  stampedFrom({ ...record, payload: payloadOf(record) === null ? '{}' : record.payload })

/** Strangers may name an id in their signals: only events that this engine writes are asked. */
export const oldestAbout = async (
  log: EventLog,
  id: string,
  type: string,
  limit: number,
): Promise<readonly Stamped[]> =>
  (await log.read({ about: id, types: [type], order: 'asc', limit })).map(readable)

export interface Search {
  readonly type: string
  readonly order: 'asc' | 'desc'
  readonly examinedMax: number
  readonly wantedMax: number
}

const STEP = 20

/** Events about a signal that are the right ones. Mostly they stand at the beginning, so little is read. */
export const searchAbout = async (
  log: EventLog,
  id: string,
  { type, order, examinedMax, wantedMax }: Search,
  isRight: (event: Stamped) => boolean,
): Promise<readonly Stamped[]> => {
  const found: Stamped[] = []
  let bounds: { readonly after?: number; readonly before?: number } = {}
  for (let examined = 0; examined < examinedMax && found.length < wantedMax; examined += STEP) {
    const records = await log.read({ ...bounds, about: id, types: [type], order, limit: STEP })
    found.push(...records.map(readable).filter(isRight))
    const last = records.at(-1)
    if (records.length < STEP || last === undefined) break
    bounds = order === 'asc' ? { after: last.seq } : { before: last.seq }
  }
  return found.slice(0, wantedMax)
}
