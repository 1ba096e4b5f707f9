import { z } from 'zod'
import { VERIFY_STEPS } from '../../../engine/integrity/verify.ts'
import { integrityView, viewIntegrity } from '../../../core/views/log.ts'
import { EVENT_ID, EVENT_RECORD } from '../examples.ts'
import { integer, textFilter } from '../fields.ts'
import { ok, okJsonText, refused, stream } from '../results.ts'
import { API_PREFIX, route, routes } from '../route.ts'
import { viewJob } from '../stream/progress.ts'
import { withinTime } from '../time-limit.ts'
import { QUICK_EVENTS_MAX, type Verification, type VerificationJob } from '../verification.ts'

/** Time after which a longer verification is answered with a job. */
const WAIT_MS = 1000

const integrity = integrityView.meta({ id: 'Integrity' })

const progress = z.object({
  step: z.enum(VERIFY_STEPS),
  checked: z.int().min(0),
  total: z.int().min(0),
})

const jobView = z
  .object({
    id: z.string(),
    mode: z.enum(['fast', 'full']),
    n: z.int().nullable().meta({ description: 'how many of the newest events; null for all' }),
    status: z.enum(['waiting', 'running', 'done', 'failed']),
    progress: progress.nullable(),
    report: integrityView.nullable().meta({ description: 'once it is done' }),
  })
  .meta({ id: 'VerificationJob' })

const accepted = z.object({ job: jobView })

const REPORT = {
  ok: true,
  mode: 'fast',
  checked: 100,
  event_count: 512,
  first_bad_id: null,
  first_bad_seq: null,
  reason: null,
  head_seq: 512,
  head_hash: EVENT_RECORD.hash,
  elapsed_ms: 4,
} as const

const PROGRESS = { step: 'hashes', checked: 40_000, total: 250_000 } as const

const JOB = {
  id: EVENT_ID,
  mode: 'full',
  n: null,
  status: 'running',
  progress: PROGRESS,
  report: null,
} as const

const jobQuery = z.object({ job: textFilter('id of a job; by default the one that runs') })

export const integrityRoutes = routes('Events', {
  verifyIntegrity: route('GET', '/integrity', 'read', {
    summary: 'Verify the hash chain and the signatures',
    description:
      '`full` recomputes the whole log, and the state and the tree that are stored beside it. What takes longer than a second is answered with 202 and a job: follow it at ' +
      '`/integrity/progress` or `/integrity/stream`. One job runs at a time, and everybody who asks for the same ' +
      `shares it; up to ${QUICK_EVENTS_MAX} of the newest events are checked beside it, one check at a time. A shared ` +
      'check may cover more than `n` events. ' +
      'A broken chain is also answered with 200.',
    query: z.object({
      mode: z.enum(['fast', 'full']).default('fast').meta({ description: 'the newest events, or all' }),
      n: integer(100, { min: 1, max: 100_000 }, 'how many of the newest events `fast` checks'),
    }),
    response: integrity,
    example: REPORT,
    otherResponses: [
      {
        status: 202,
        description: 'It takes longer than a second; the job has the result later',
        content: { schema: accepted, example: { job: JOB } },
      },
    ],
    // The handler limits its time itself, and returns a job instead of an error.
    mayTakeLong: () => true,
    handler: async ({ query }, { verification }) => {
      // A few events are verified at once. More are a job, which may be shared.
      const isQuick = query.mode === 'fast' && query.n <= QUICK_EVENTS_MAX
      const report = isQuick ? verification.verifyNewest(query.n) : verification.ask(query).result
      const found = await withinTime(report, WAIT_MS, () => undefined)
      if (found.status === 'done') return ok(viewIntegrity(found.value))
      const job = verification.ask(query)
      const location = `${API_PREFIX}/integrity/progress?job=${job.id}`
      return okJsonText(JSON.stringify({ job: viewJob(job) }), {
        status: 202,
        headers: { location, 'retry-after': '1' },
      })
    },
  }),
  getVerificationProgress: route('GET', '/integrity/progress', 'read', {
    summary: 'Progress of a verification, and its result',
    description:
      'Hashes first, then signatures, then the state folded from the events; each step checks `total` events. Both are null while no job runs. The newest ' +
      '20 jobs can be asked for by their id.',
    query: jobQuery,
    response: z.object({ progress: progress.nullable(), job: jobView.nullable() }),
    example: { progress: PROGRESS, job: JOB },
    problems: ['verification.not_found'],
    handler: async ({ query: { job: id } }, { verification }) => {
      const job = jobOf(verification, id)
      if (job === undefined) return unknownJob(id)
      return ok({ progress: job?.progress ?? null, job: job && viewJob(job) })
    },
  }),
  streamVerification: route('GET', '/integrity/stream', 'read', {
    streams: true,
    summary: 'A verification as server-sent events',
    description:
      'Messages of the type `verification`, each with the job as it is, a few times a second. The last one has the ' +
      'report, and the stream ends. Without a job there is one message with null.',
    query: jobQuery,
    response: z.string(),
    responseType: 'text/event-stream',
    example: `event: verification\ndata: ${JSON.stringify({ job: JOB })}\n\n`,
    problems: ['verification.not_found', 'stream.too_many_clients'],
    handler: async ({ query: { job: id } }, { verification, progressStreams }) => {
      const job = jobOf(verification, id)
      if (job === undefined) return unknownJob(id)
      return stream((connection) => progressStreams.open(connection, job))
    },
  }),
})

/** Null if no job runs. Undefined if the requested job is not known. */
const jobOf = (verification: Verification, id: string | undefined): VerificationJob | null | undefined =>
  id === undefined ? verification.running : (verification.find(id) ?? undefined)

const unknownJob = (id = '') =>
  refused('verification.not_found', 'No verification has this id', { extras: { job: id } })
