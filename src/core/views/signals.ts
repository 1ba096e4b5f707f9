import { z } from 'zod'
import type { LogRecord } from '../log/event.ts'
import { payloadOf, payloadText, storedPayload } from './stored-payload.ts'

export const signalItemView = z.object({
  id: z.string(),
  type: z.string(),
  ts: z.string(),
  source: z.string().nullable(),
  payload: storedPayload,
})

export type SignalItemView = z.infer<typeof signalItemView>

export const viewSignalItem = (record: LogRecord): SignalItemView => ({
  id: record.id,
  type: record.type,
  ts: record.ts,
  source: record.source,
  payload: payloadOf(record) ?? record.payload,
})

/** The same as JSON text. */
export const signalItemText = (record: LogRecord): string =>
  `{"id":${JSON.stringify(record.id)},"type":${JSON.stringify(record.type)},"ts":${JSON.stringify(record.ts)}` +
  `,"source":${JSON.stringify(record.source)},"payload":${payloadText(record)}}`
