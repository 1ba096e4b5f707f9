import type { EventItem } from '../../api/log.ts'
import { textOf } from '../../ui/format.ts'

/** A time in which one regime held. */
export interface Stretch {
  readonly id: string
  readonly regime: string
  readonly previous: string | null
  readonly from: string
  /** Null for the one that holds now. */
  readonly to: string | null
}

/** From changes, newest first; so is the answer. */
export const stretchesOf = (changes: readonly EventItem[]): readonly Stretch[] =>
  changes.map(({ id, ts, payload }, index) => ({
    id,
    regime: textOf(payload['regime']),
    previous: typeof payload['previous'] === 'string' ? payload['previous'] : null,
    from: ts,
    to: changes[index - 1]?.ts ?? null,
  }))
