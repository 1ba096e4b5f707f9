import type { Engine } from '../engine/engine.ts'
import type { Caller } from './caller.ts'
import { RateLimit } from './rate-limit.ts'

/** Denials of one token or access key that are stored per minute. The first ones say all there is to know. */
export const DENIALS_PER_CALLER_MAX = 60

const counted = new WeakMap<Engine, RateLimit>()

/**
 * True if a further denial of a known caller is stored. Denials stay in the log forever, and a caller with read access
 * only could fill the log with them. REST and MCP count together.
 */
export const isDenialStored = (engine: Engine, { kind, key }: Caller): boolean => {
  const limit = counted.get(engine) ?? new RateLimit()
  counted.set(engine, limit)
  const caller = key === null ? kind : `key ${key.name}`
  return limit.take(caller, DENIALS_PER_CALLER_MAX, performance.now()) === null
}
