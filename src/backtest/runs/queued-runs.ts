import { boundReached, TOKEN_OWNER, type Holder } from '../../core/shared/fair-share.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { JobQueue, QueuedJob } from '../../ports/job-queue.ts'
import {
  hasEnded,
  RunRefusedError,
  type BacktestRuns,
  type Run,
  type RunKind,
  type RunResult,
  type RunWithResult,
  type Submitted,
} from './runs.ts'
import { figuresOf, verdictOfResult } from './verdict.ts'

export const RUNS_QUEUE = 'runs'

export interface QueuedRunsDependencies {
  readonly queue: JobQueue
  readonly clock: Pick<Clock, 'newId'>
  readonly settings: () => { readonly max_queued: number; readonly keep: number }
  /** Throws `RunRefusedError` for a request that cannot be run. Returns further data that the worker needs. */
  readonly prepare: (kind: RunKind, request: JsonObject) => Promise<JsonObject>
  readonly onError: (what: string, error: unknown) => void
}

const POLL_MS = 500

/** Runs in a queue that all processes of the service and all workers share. Their state is in the queue alone. */
export class QueuedRuns implements BacktestRuns {
  readonly #dependencies: QueuedRunsDependencies
  readonly #listeners = new Set<(run: Run) => void>()
  /** Last state of each unfinished run that listeners received. */
  readonly #reported = new Map<string, string>()
  #timer: NodeJS.Timeout | null = null
  #isLooking = false
  #isFailing = false

  constructor(dependencies: QueuedRunsDependencies) {
    this.#dependencies = dependencies
  }

  async submit(kind: RunKind, request: JsonObject, by: Holder): Promise<Submitted> {
    const { queue, clock, settings, prepare } = this.#dependencies
    const { max_queued: max, keep } = settings()
    let further: JsonObject
    try {
      further = await prepare(kind, request)
    } catch (error) {
      if (error instanceof RunRefusedError) return { status: 'refused', reason: error.message }
      throw error
    }
    // Several processes may submit at once, so the bound may be exceeded by their number.
    const bound = boundReached(max, await this.#openOwners(), by)
    if (bound !== null) return { status: 'full', max: bound }
    const id = clock.newId()
    await queue.send(RUNS_QUEUE, id, { ...further, kind, request, owner: by.owner })
    await this.#forgetOld(keep)
    const job = await queue.get(RUNS_QUEUE, id)
    if (job === null) throw new Error('the queue does not hold what was sent')
    return { status: 'accepted', run: runOf(job) }
  }

  async list(kind: RunKind): Promise<readonly Run[]> {
    return (await this.#all()).filter((run) => run.kind === kind)
  }

  async get(id: string): Promise<RunWithResult | null> {
    const job = await this.#dependencies.queue.get(RUNS_QUEUE, id)
    if (job === null) return null
    return { ...runOf(job), result: (job.output['result'] ?? null) as unknown as RunResult | null }
  }

  async cancel(id: string): Promise<'cancelled' | 'removed' | null> {
    const { queue } = this.#dependencies
    const job = await queue.get(RUNS_QUEUE, id)
    if (job === null) return null
    // The run may end in between.
    if (!hasEnded(runOf(job)) && (await queue.cancel(RUNS_QUEUE, id))) return 'cancelled'
    await queue.remove(RUNS_QUEUE, [id])
    return 'removed'
  }

  onChange(listener: (run: Run) => void): () => void {
    this.#listeners.add(listener)
    this.#timer ??= setInterval(() => {
      this.#look().catch((error: unknown) => {
        // Reported once per outage, because the queue is polled every half a second.
        if (!this.#isFailing) this.#dependencies.onError('could not read the queue', error)
        this.#isFailing = true
      })
    }, POLL_MS)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  close(): Promise<void> {
    this.#stop()
    return Promise.resolve()
  }

  async #openOwners(): Promise<readonly string[]> {
    const open = (await this.#all()).filter((run) => !hasEnded(run))
    return open.map(({ owner }) => owner)
  }

  async #all(): Promise<readonly Run[]> {
    const { queue, settings } = this.#dependencies
    const { max_queued: waiting, keep } = settings()
    return (await queue.list(RUNS_QUEUE, waiting + keep)).map(runOf)
  }

  async #look(): Promise<void> {
    // A slow response that arrives after a later one would report an outdated state.
    if (this.#isLooking) return
    this.#isLooking = true
    const all = await this.#all().finally(() => (this.#isLooking = false))
    this.#isFailing = false
    for (const run of all) {
      const known = this.#reported.get(run.id)
      const text = JSON.stringify(run)
      if (known === text || (known === undefined && hasEnded(run))) continue
      if (hasEnded(run)) this.#reported.delete(run.id)
      else this.#reported.set(run.id, text)
      for (const listener of this.#listeners) listener(run)
    }
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#reported.clear()
  }

  async #forgetOld(keep: number): Promise<void> {
    const { queue, settings } = this.#dependencies
    const ended = (await queue.list(RUNS_QUEUE, 2 * keep + settings().max_queued)).filter((job) =>
      hasEnded(runOf(job)),
    )
    const old = ended.slice(keep).map(({ id }) => id)
    if (old.length > 0) await queue.remove(RUNS_QUEUE, old)
  }
}

/** Output that a worker stores at the end of a run. */
export const outputOf = (result: RunResult): JsonObject =>
  JSON.parse(JSON.stringify({ ...verdictOfResult(result), figures: figuresOf(result), result })) as JsonObject

const runOf = ({
  id,
  state,
  data,
  progress,
  createdAt,
  startedAt,
  endedAt,
  attempts,
  output,
}: QueuedJob): Run => {
  const error = errorOf(state, output)
  return {
    id,
    kind: data['kind'] as unknown as RunKind,
    owner: typeof data['owner'] === 'string' ? data['owner'] : TOKEN_OWNER,
    // For the queue, a request that cannot be run is done.
    status: state === 'done' && error !== null ? 'failed' : state,
    request: data['request'] as unknown as JsonObject,
    progress,
    created_at: createdAt,
    started_at: startedAt,
    ended_at: endedAt,
    attempts,
    error,
    verdict: (output['verdict'] ?? null) as string | null,
    edge_found: (output['edge_found'] ?? null) as boolean | null,
    figures: (output['figures'] ?? null) as unknown as Run['figures'],
  }
}

/** The queue's message about a job that it gave up. */
export const messageOf = ({ message, value }: JsonObject): string =>
  typeof message === 'string' ? message : JSON.stringify(value ?? 'it was lost')

const errorOf = (state: QueuedJob['state'], output: JsonObject): Run['error'] => {
  if (state === 'failed') {
    const message = `no worker finished it: ${messageOf(output)}`
    return { code: 'backtest.interrupted', message }
  }
  // No worker so far could produce the right result. The job waits for one that can.
  if (state === 'queued' && 'message' in output)
    return { code: 'backtest.no_worker', message: messageOf(output) }
  return (output['error'] ?? null) as unknown as Run['error']
}
