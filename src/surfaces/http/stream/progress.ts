import type { ServerResponse } from 'node:http'
import { hasEnded as hasRunEnded, type BacktestRuns, type Run } from '../../../backtest/runs/runs.ts'
import { boundReached } from '../../../core/shared/fair-share.ts'
import { viewIntegrity } from '../../../core/views/log.ts'
import { cutUnread } from '../../cut-unread.ts'
import { SHUTTING_DOWN, tooManyClients } from '../errors.ts'
import type { Problem } from '../problems.ts'
import type { StreamConnection } from '../results.ts'
import type { Verification, VerificationJob } from '../verification.ts'
import { KEEP_ALIVE, RETRY } from './frames.ts'
import { STREAM_HEADERS } from './hub.ts'

const CLIENTS_MAX = 100

/** Minimum interval between two progress messages about one job. */
const EVERY_MS = 250

/** Interval of keep-alive messages. After a longer silence a proxy would drop the connection. */
const KEEP_ALIVE_MS = 15_000

const endSoon = (response: ServerResponse): void => {
  cutUnread(response)
  response.end()
}

/** Clients that follow a job as server-sent events, until it has ended. */
class WorkStreams {
  /** Caller of each stream. */
  readonly #ends = new Map<() => void, string>()
  #isClosed = false

  /**
   * `follow` calls `end` when there is nothing more to send. It returns a function that stops it, or null if there is
   * nothing to follow.
   */
  protected begin(
    connection: StreamConnection,
    first: Buffer,
    follow: ((end: () => void) => () => void) | null,
  ): Problem | null {
    if (this.#isClosed) return SHUTTING_DOWN
    const { response, holder } = connection
    const bound = boundReached(CLIENTS_MAX, [...this.#ends.values()], holder)
    if (bound !== null) return tooManyClients(bound)
    connection.begin(STREAM_HEADERS, first)
    if (follow === null) {
      endSoon(response)
      return null
    }
    const end = (): void => {
      stop()
      this.#ends.delete(end)
      endSoon(response)
    }
    const stop = follow(end)
    this.#ends.set(end, holder.owner)
    connection.onClosed(end)
    return null
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#ends.keys()) end()
  }
}

/** Clients that follow a verification. */
export class ProgressStreams extends WorkStreams {
  readonly #verification: Verification

  constructor(verification: Verification) {
    super()
    this.#verification = verification
  }

  /** Follows the job, or the running one. Without a job, reports that and ends. */
  open(connection: StreamConnection, job: VerificationJob | null): Problem | null {
    if (job === null || hasJobEnded(job)) return this.begin(connection, frameOfJob(job), null)
    const { response } = connection
    let sentAtMs = performance.now()
    return this.begin(connection, frameOfJob(job), (end) =>
      this.#verification.onChange(() => {
        if (hasJobEnded(job)) {
          response.write(frameOfJob(job))
          return end()
        }
        const nowMs = performance.now()
        // A client that reads nothing gets the next step when it reads again.
        if (nowMs - sentAtMs < EVERY_MS || response.writableNeedDrain) return
        sentAtMs = nowMs
        if (!connection.isAuthorized()) return end()
        response.write(frameOfJob(job))
      }),
    )
  }
}

/** A job as the wire shows it. */
export const viewJob = ({ id, mode, n, status, progress, report }: VerificationJob) => ({
  id,
  mode,
  n: mode === 'full' ? null : n,
  status,
  progress,
  report: report === null ? null : viewIntegrity(report),
})

const hasJobEnded = ({ status }: VerificationJob): boolean => status === 'done' || status === 'failed'

const frameOfJob = (job: VerificationJob | null): Buffer =>
  Buffer.from(`event: verification\ndata: ${JSON.stringify({ job: job && viewJob(job) })}\n\n`)

/** Clients that follow backtests and sweeps: one of them, or all. */
export class RunStreams extends WorkStreams {
  readonly #runs: BacktestRuns

  constructor(runs: BacktestRuns) {
    super()
    this.#runs = runs
  }

  /** `followed` is null for all runs. `first` holds the runs as known now. */
  open(connection: StreamConnection, followed: Run | null, first: readonly Run[]): Problem | null {
    const begin = Buffer.concat([RETRY, ...first.map(frameOfRun)])
    if (followed !== null && hasRunEnded(followed)) return this.begin(connection, begin, null)
    const { response } = connection
    return this.begin(connection, begin, (end) => {
      const sentMs = new Map<string, number>()
      const sent = new Set<string>()
      let isOver = false
      const send = (run: Run): void => {
        if (isOver || (followed !== null && run.id !== followed.id)) return
        sent.add(run.id)
        const nowMs = performance.now()
        const isProgress = run.status === 'running' && run.progress > 0
        // Progress messages may be skipped, the end of a run may not.
        if (isProgress && (nowMs - (sentMs.get(run.id) ?? 0) < EVERY_MS || response.writableNeedDrain)) return
        if (!connection.isAuthorized()) return end()
        sentMs.set(run.id, nowMs)
        response.write(frameOfRun(run))
        if (!hasRunEnded(run)) return
        sentMs.delete(run.id)
        if (followed !== null) end()
      }
      const stopListening = this.#runs.onChange(send)
      const keepAlive = setInterval(() => {
        if (!connection.isAuthorized()) return end()
        if (!response.writableNeedDrain) response.write(KEEP_ALIVE)
      }, KEEP_ALIVE_MS)
      // A client that cannot be sent the current state reconnects for it.
      this.#sendMissed(first, sent, send).catch(() => end())
      return () => {
        isOver = true
        stopListening()
        clearInterval(keepAlive)
      }
    })
  }

  /** Sends runs that ended between the read of `first` and the start of listening. No other message reports them. */
  async #sendMissed(
    first: readonly Run[],
    sent: ReadonlySet<string>,
    send: (run: Run) => void,
  ): Promise<void> {
    for (const before of first) {
      const run = await this.#runs.get(before.id)
      if (run === null || !hasRunEnded(run) || sent.has(run.id)) continue
      const { result: _result, ...ended } = run
      send(ended)
    }
  }
}

const frameOfRun = (run: Run): Buffer => Buffer.from(`event: backtest\ndata: ${JSON.stringify({ run })}\n\n`)
