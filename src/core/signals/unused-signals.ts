import { Map as PersistentMap } from 'immutable'
import type { PayloadOf } from '../events/catalogue.ts'
import { DAY_MS } from '../shared/time.ts'

/** Signals of contributors that wait to be used, by id: each counts as accepted once, the first time. */
export type Unused = PersistentMap<string, { readonly contributorId: string; readonly receivedAt: string }>

export const INITIAL_UNUSED: Unused = PersistentMap()

/** Beyond this, new signals are not waited for until a cycle has let go of old ones. */
export const UNUSED_MAX = 200_000

/** The brain uses nothing that is older than four days. */
const WAIT_MS_MAX = 4 * DAY_MS

export const remembered = (
  unused: Unused,
  signalId: string,
  contributorId: string,
  receivedAt: string,
): Unused => (unused.size >= UNUSED_MAX ? unused : unused.set(signalId, { contributorId, receivedAt }))

/** What a conviction uses for the first time. It also lists signals that had no share in it. */
export const usedIn = (
  unused: Unused,
  /** Absent from what is left of a damaged event. */
  inputs: PayloadOf<'brain.conviction.v1'>['inputs'] | undefined = [],
): readonly { readonly signalId: string; readonly contributorId: string }[] => {
  if (unused.size === 0) return []
  return inputs.flatMap(({ signal_id: signalId, share }) => {
    const waiting = share > 0 ? unused.get(signalId) : undefined
    return waiting === undefined ? [] : [{ signalId, contributorId: waiting.contributorId }]
  })
}

export const swept = (unused: Unused, now: string): Unused => {
  const oldest = new Date(Date.parse(now) - WAIT_MS_MAX).toISOString()
  const old: string[] = []
  // Looked for first: most cycles find none, and a new map of all that stays would cost more than the cycle.
  for (const [id, { receivedAt }] of unused) if (receivedAt < oldest) old.push(id)
  return old.length === 0 ? unused : unused.deleteAll(old)
}
