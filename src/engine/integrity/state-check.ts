import { createHash } from 'node:crypto'
import type { Head } from '../../core/log/event.ts'
import { encodedParts } from '../../core/state-codec.ts'
import { STATE_VERSION, type State } from '../../core/state.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { catchUp, EMPTY_MEMORY } from '../memory.ts'
import type { Findings } from './findings.ts'
import type { Trust } from './trust.ts'

/**
 * Folds the log again from its first event and compares the state with the stored snapshot, from which the next start
 * goes on. In small steps: a service does this while it works.
 */
export const checkState = async (
  log: EventLog,
  trust: Trust,
  head: Head,
  findings: Findings,
  onProgress: (folded: number) => void,
): Promise<void> => {
  const snapshot = await log.loadSnapshot(STATE_VERSION)
  const logIsIntact = findings.first() === null
  const onPage = ({ memory }: { readonly memory: { readonly head: Head } }): void =>
    onProgress(memory.head.seq)
  try {
    let memory = EMPTY_MEMORY
    // A snapshot that was saved since the verification began stands behind its end.
    if (snapshot !== null && snapshot.seq <= head.seq) {
      memory = await catchUp(log, memory, { trust, upTo: snapshot.seq, onPage })
      if ((await hashInSteps(memory.state)) !== snapshot.stateHash)
        fail(findings, `the snapshot at ${snapshot.seq} does not follow from the events before it`)
    }
    await catchUp(log, memory, { trust, upTo: head.seq, onPage })
  } catch (error) {
    // A changed event may not even fold; on an intact log the same error is a bug of ours.
    if (logIsIntact) throw error
    fail(findings, 'the events do not fold to a state')
  }
}

const fail = (findings: Findings, detail: string): void =>
  findings.add({ reason: 'projections', seq: null, id: null, shownAt: Number.MAX_SAFE_INTEGER, detail })

/** Takes a small part of a millisecond. */
const SLICE_CHARACTERS = 4000

const hashInSteps = async (state: State): Promise<string> => {
  const hash = createHash('sha256')
  let slice = ''
  for (const part of encodedParts(state)) {
    slice += part
    if (slice.length < SLICE_CHARACTERS && part !== '') continue
    hash.update(slice)
    slice = ''
    await yieldToEventLoop()
  }
  return hash.update(slice).digest('hex')
}
