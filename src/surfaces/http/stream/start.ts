import { isPlainText } from '../../../core/shared/text.ts'
import type { EventLog } from '../../../ports/event-log.ts'

/** Where a client begins to read. */
export type Start =
  /** With what comes behind this seq. */
  | { readonly kind: 'behind'; readonly seq: number }
  /** With what comes from now on. */
  | { readonly kind: 'now'; readonly because: 'nothing-asked' | 'unknown-id' }

export interface AskedStart {
  /** Event id; that event and later ones. */
  readonly since: string | undefined
  /** Event id; only later ones. */
  readonly lastEventId: string | undefined
}

/** Of two positions the later one counts. An id that nobody knows counts only if no other says more. */
export const findStart = async (log: EventLog, { since, lastEventId }: AskedStart): Promise<Start> => {
  const [first, last] = await Promise.all([seqOf(log, since), seqOf(log, lastEventId)])
  const behind = Math.max(first === null ? -1 : first - 1, last ?? -1)
  if (behind >= 0) return { kind: 'behind', seq: behind }
  return { kind: 'now', because: since || lastEventId ? 'unknown-id' : 'nothing-asked' }
}

/** What cannot be an id is not looked for. */
const seqOf = async (log: EventLog, id = ''): Promise<number | null> => {
  if (!isPlainText(id)) return null
  return (await log.get(id))?.seq ?? null
}
