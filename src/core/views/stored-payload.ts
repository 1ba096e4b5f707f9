import { z } from 'zod'
import type { LogRecord } from '../log/event.ts'
import { isJsonObject } from '../shared/json-object.ts'
import type { JsonObject } from '../shared/json.ts'

/** A stored payload as it is shown. */
export const storedPayload = z
  .union([
    z.custom<JsonObject>(isJsonObject).meta({ type: 'object', additionalProperties: true }),
    z.string(),
  ])
  .meta({ description: 'the stored text itself if it was damaged and is no JSON object any more' })

/** Null if the stored text is no JSON object: somebody changed it behind our back. */
export const payloadOf = (record: Pick<LogRecord, 'payload'>): JsonObject | null => {
  try {
    const payload: unknown = JSON.parse(record.payload)
    return isJsonObject(payload) ? payload : null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}

/**
 * The stored text as it is, for splicing: a third of the time of writing it anew, and numbers keep the form that was
 * hashed. It is still parsed, since damaged text must not break the answer.
 */
export const payloadText = (record: Pick<LogRecord, 'payload'>): string =>
  payloadOf(record) === null ? JSON.stringify(record.payload) : record.payload
