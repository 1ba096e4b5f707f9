import { isJsonObject } from '../shared/json-object.ts'
import type { JsonObject } from '../shared/json.ts'
import type { LogRecord } from './event.ts'

/** Null if the stored text is not a JSON object: it was changed outside the engine, which verification reports. */
export const payloadOf = (record: Pick<LogRecord, 'payload'>): JsonObject | null => {
  try {
    const payload: unknown = JSON.parse(record.payload)
    return isJsonObject(payload) ? payload : null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
