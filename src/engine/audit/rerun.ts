import { canonicalJson } from '../../core/log/canonical-json.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { NodeId } from '../../core/shared/brand.ts'
import type { SignedClaim } from '../../core/shared/decision-context.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import type { State } from '../../core/state.ts'
import { type BatchInputs, idsOf, type RequestMade } from '../../core/stored-commands.ts'
import { runRequest } from '../plan.ts'
import { sha256Hex } from '../sha256.ts'
import type { Settings } from './configurations.ts'

/** Inputs of a decision beside state and command, as far as the log holds them. */
export interface BatchCircumstances extends BatchInputs {
  /** Index of the command in its batch. */
  readonly place: number
  readonly settings: Settings
  readonly nodeId: NodeId
  readonly isSigned: (claim: SignedClaim) => boolean
}

/** Runs a stored command again. Returns its events as they would be stored now, or null if it is refused or throws. */
export const rerun = (
  state: State,
  request: RequestMade,
  circumstances: BatchCircumstances,
): readonly Stamped[] | null => {
  const { events: stored, traceId, elapsedMs } = request
  const { seed, place, version, settings, nodeId, isSigned, now } = circumstances
  const [first] = stored
  if (first === undefined) return null
  const durations = [...elapsedMs]
  try {
    const result = runRequest(state, request, {
      now: now ?? first.recordedAt,
      recordedAt: first.recordedAt,
      traceId,
      configuration: settings.configuration,
      configHash: settings.hash,
      version,
      nodeId,
      isSigned,
      newId: idsOf(seed, place),
      sha256Hex,
      elapsedMs: () => durations.shift() ?? 0,
      sign: (text) => signatureIn(stored, text, state, circumstances),
    })
    return result.status === 'accepted' ? result.all : null
  } catch {
    // Decision code may throw on a state that never existed.
    return null
  }
}

/** The private key is not available. A stored signature of the same text replaces a new one. */
const signatureIn = (
  stored: readonly Stamped[],
  text: string,
  { operations }: State,
  { nodeId, isSigned }: Pick<BatchCircumstances, 'nodeId' | 'isSigned'>,
): string => {
  const publicKeyHex = operations.nodes.publicKeys.get(nodeId)
  for (const { payload } of stored) {
    const signature = payload['signature_b64']
    if (typeof signature !== 'string' || publicKeyHex === undefined) continue
    const signatureHex = Buffer.from(signature, 'base64').toString('hex')
    if (signatureHex.length === 128 && isSigned({ text, signatureHex, publicKeyHex })) return signature
  }
  return 'no stored signature is one of this text'
}

/** A place where two events differ. A side without a value is undefined. */
export interface Difference {
  readonly path: string
  readonly stored: Json | undefined
  readonly rerun: Json | undefined
}

/** Bytes that were hashed and signed. */
export const bytesOf = ({ id, type, ts, source, traceId, dedupeKey, payload }: Stamped): string =>
  canonicalJson({ id, type, ts, source, traceId, dedupeKey, payload })

const DIFFERENCES_MAX = 5

export const differencesOf = (stored: Stamped, made: Stamped): readonly Difference[] => {
  const found: Difference[] = []
  compare('', membersOf(stored), membersOf(made), found)
  return found
}

const membersOf = (event: Stamped): JsonObject => {
  const { id, type, ts, source, traceId: trace_id, dedupeKey: dedupe_key, payload } = event
  return { id, type, ts, source, trace_id, dedupe_key, ...payload }
}

const compare = (
  path: string,
  stored: Json | undefined,
  made: Json | undefined,
  found: Difference[],
): void => {
  if (found.length >= DIFFERENCES_MAX) return
  if (canonical(stored) === canonical(made)) return
  if (!isContainer(stored) || !isContainer(made) || Array.isArray(stored) !== Array.isArray(made)) {
    found.push({ path, stored, rerun: made })
    return
  }
  for (const name of new Set([...Object.keys(stored), ...Object.keys(made)]))
    compare(path === '' ? name : `${path}.${name}`, stored[name], made[name], found)
}

type Container = { readonly [name: string]: Json }

const isContainer = (value: Json | undefined): value is Container =>
  typeof value === 'object' && value !== null

const canonical = (value: Json | undefined): string => (value === undefined ? '' : canonicalJson(value))

/** Pairs the events of two lists: the largest number of pairs that keep their order. Returns pairs of indexes. */
export const aligned = (
  stored: readonly Stamped[],
  made: readonly Stamped[],
): readonly (readonly [number, number])[] => {
  const best = Array.from({ length: stored.length + 1 }, () => new Float64Array(made.length + 1))
  for (let row = stored.length - 1; row >= 0; row -= 1)
    for (let column = made.length - 1; column >= 0; column -= 1) {
      const same = sameAs(stored[row], made[column])
      ;(best[row] as Float64Array)[column] = Math.max(
        at(best, row + 1, column),
        at(best, row, column + 1),
        same === 0 ? 0 : same + at(best, row + 1, column + 1),
      )
    }
  const pairs: (readonly [number, number])[] = []
  for (let row = 0, column = 0; row < stored.length && column < made.length;) {
    const same = sameAs(stored[row], made[column])
    if (same > 0 && at(best, row, column) === same + at(best, row + 1, column + 1)) {
      pairs.push([row, column])
      row += 1
      column += 1
    } else if (at(best, row, column) === at(best, row + 1, column)) row += 1
    else column += 1
  }
  return pairs
}

const at = (best: readonly Float64Array[], row: number, column: number): number => best[row]?.[column] ?? 0

/** Similarity of two events; 0 for different types. */
const sameAs = (one: Stamped | undefined, other: Stamped | undefined): number => {
  if (one === undefined || other === undefined || one.type !== other.type) return 0
  return 2 + Number(subjectOf(one) === subjectOf(other)) + Number(bytesOf(one) === bytesOf(other))
}

const subjectOf = ({ payload }: Stamped): string =>
  canonical(payload['symbol'] ?? payload['asset'] ?? payload['call_id'] ?? payload['position_id'])
