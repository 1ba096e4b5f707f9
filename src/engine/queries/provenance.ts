import { unknownProvenance, viewProvenance, type ProvenanceView } from '../../core/views/reputation.ts'
import { trailOf } from '../../core/signals/trails.ts'
import type { Clock } from '../../ports/clock.ts'
import { isoNow } from '../iso-now.ts'
import type { Reader } from './reader.ts'

export interface ProvenanceSources {
  readonly engine: Reader
  readonly clock: Clock
  /** Whether the newest events verify; see `integrity/recent-check.ts`. */
  readonly recentChainOk: () => Promise<boolean>
}

/** What is known of an author, for anybody who asks. Reading changes nothing. */
export const provenanceOf = async (
  { engine, clock, recentChainOk }: ProvenanceSources,
  producerId: string,
): Promise<ProvenanceView> => {
  const state = await engine.fresh()
  if (trailOf(state.signals.trails, producerId) === null) return unknownProvenance(producerId)
  const chainOk = await recentChainOk()
  return viewProvenance(state, producerId, { chainOk, now: isoNow(clock) })
}
