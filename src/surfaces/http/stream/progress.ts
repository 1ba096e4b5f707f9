import { viewIntegrity } from '../../../core/views/log.ts'
import { SHUTTING_DOWN } from '../errors.ts'
import { problem, type Problem } from '../problems.ts'
import type { StreamConnection } from '../results.ts'
import type { Verification, VerificationJob } from '../verification.ts'
import { STREAM_HEADERS } from './hub.ts'

const CLIENTS_MAX = 100

/** How often a client hears of progress at most. */
const EVERY_MS = 250

/** A job as the wire shows it. */
export const viewJob = ({ id, mode, n, status, progress, report }: VerificationJob) => ({
  id,
  mode,
  n: mode === 'full' ? null : n,
  status,
  progress,
  report: report === null ? null : viewIntegrity(report),
})

/** Clients that follow a verification as server-sent events, until it has ended. */
export class ProgressStreams {
  readonly #verification: Verification
  readonly #ends = new Set<() => void>()
  #isClosed = false

  constructor(verification: Verification) {
    this.#verification = verification
  }

  /** Follows the job, or the one under way; without any, says so and ends. */
  open(connection: StreamConnection, job: VerificationJob | null): Problem | null {
    if (this.#isClosed) return SHUTTING_DOWN
    if (this.#ends.size >= CLIENTS_MAX)
      return problem(
        'stream.too_many_clients',
        `Stream client limit (${CLIENTS_MAX}) reached; try again later`,
      )
    const { response } = connection
    connection.begin(STREAM_HEADERS, frameOf(job))
    if (job === null || hasEnded(job)) {
      response.end()
      return null
    }
    let sentAtMs = performance.now()
    const end = (): void => {
      stopListening()
      this.#ends.delete(end)
      response.end()
    }
    const stopListening = this.#verification.onChange(() => {
      if (hasEnded(job)) {
        response.write(frameOf(job))
        return end()
      }
      const nowMs = performance.now()
      // A client that reads nothing hears of the next step once it does.
      if (nowMs - sentAtMs < EVERY_MS || response.writableNeedDrain) return
      sentAtMs = nowMs
      if (!connection.isAuthorized()) return end()
      response.write(frameOf(job))
    })
    this.#ends.add(end)
    connection.onClosed(end)
    return null
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#ends) end()
  }
}

const hasEnded = ({ status }: VerificationJob): boolean => status === 'done' || status === 'failed'

const frameOf = (job: VerificationJob | null): Buffer =>
  Buffer.from(`event: verification\ndata: ${JSON.stringify({ job: job && viewJob(job) })}\n\n`)
