import { canonicalJson, NotCanonicalError } from '../../core/log/canonical-json.ts'
import type { Head, LogRecord } from '../../core/log/event.ts'
import type { Json } from '../../core/shared/json.ts'
import { chainFaultOf } from '../../ports/event-log.ts'
import { sha256Hex } from '../sha256.ts'
import { faultAt, faultFrom, type IntegrityFault } from './findings.ts'

/** Events checked between two yields to the event loop: about a millisecond of work. */
export const SLICE_EVENTS = 50

/** Fault of an event as the successor of `previous`, from its columns alone, or null. */
export const columnFaultOf = (
  record: LogRecord,
  previous: Head,
  { rehash }: { readonly rehash: boolean },
): IntegrityFault | null => {
  // With the stored hash as its input, the hash check always passes. Used if hashes were checked already, or need no
  // check.
  const fault = chainFaultOf(previous, record, rehash ? sha256Hex : () => record.hash)
  return fault === null ? null : faultFrom(fault)
}

/** A damaged row may lack required columns. An empty text in their place lets all checks run. */
export const withTexts = (record: LogRecord): LogRecord =>
  REQUIRED.every((name) => typeof record[name] === 'string')
    ? record
    : {
        ...record,
        ...Object.fromEntries(REQUIRED.map((name) => [name, (record[name] as string | null) ?? ''])),
      }

/** The payload must be the canonical text of its value. Otherwise two texts could represent one event. */
export const canonicalFaultOf = (record: LogRecord): IntegrityFault | null => {
  let value: Json
  try {
    value = JSON.parse(record.payload) as Json
  } catch {
    return faultAt(record, 'canonical', `the payload of event ${record.seq} is no JSON`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return faultAt(record, 'canonical', `the payload of event ${record.seq} is no object`)
  }
  return isCanonical(value, record.payload)
    ? null
    : faultAt(record, 'canonical', `the payload of event ${record.seq} is not canonical JSON`)
}

const REQUIRED = ['id', 'type', 'ts', 'schemaVersion', 'payload', 'prevHash', 'hash', 'recordedAt'] as const

const isCanonical = (value: Json, text: string): boolean => {
  try {
    return canonicalJson(value) === text
  } catch (error) {
    if (error instanceof NotCanonicalError) return false
    throw error
  }
}
