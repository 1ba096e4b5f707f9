import { z } from 'zod'
import type { Stamped } from '../log/event.ts'
import { contributorOfKey } from '../signals/submission-key.ts'
import { assert } from '../shared/assert.ts'

export const submissionView = z.object({ event_id: z.string(), contributor_id: z.string() })

export type SubmissionView = z.infer<typeof submissionView>

/** What a submission stored: now, or the first time it was sent. */
export const viewSubmission = (events: readonly Stamped[]): SubmissionView => {
  const [signal, attribution] = events
  assert(signal !== undefined, 'a submission stores a signal')
  // A repeated one is answered with its signal alone, whose key says who sent it.
  const contributorId = attribution?.payload['contributor_id'] ?? contributorOfKey(signal.dedupeKey)
  assert(typeof contributorId === 'string', 'a submission is attributed')
  return { event_id: signal.id, contributor_id: contributorId }
}
