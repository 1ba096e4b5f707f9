import { randomUUID } from 'node:crypto'
import { DatabaseError, Pool } from 'pg'
import PgBoss from 'pg-boss'
import type { JsonObject } from '../../../core/shared/json.ts'
import { OutputRefusedError, type JobQueue, type QueuedJob, type TakenJob } from '../../../ports/job-queue.ts'

export interface PostgresJobQueueOptions {
  readonly url: string
  readonly queues: readonly string[]
  /** Time without renewal after which a job is given to another worker. */
  readonly leaseSeconds: number
  readonly onError: (error: Error) => void
}

const SCHEMA = 'svc_jobs'
const CONNECTIONS_MAX = 4
const RETRIES_MAX = 5
const KEPT_SECONDS = 30 * 86_400
// A server that does not answer must not block a worker for ever. A large result needs time.
const CONNECT_TIMEOUT_MS = 10_000
const QUERY_TIMEOUT_MS = 60_000
/** A worker may change a job only while it holds the job: not after it was cancelled or given to another worker. */
const OURS = `name = $1 AND id = $2 AND state = 'active' AND output->>'token' = $3`

/**
 * Jobs of pg-boss in the database of the log, in a schema of their own. The expiry of pg-boss is our lease: it counts
 * from `started_on`, which a worker renews while it runs the job. The job of a killed process is therefore taken up
 * again after seconds, however long a job may take.
 */
export const openPostgresJobQueue = async (options: PostgresJobQueueOptions): Promise<JobQueue> => {
  const { url, queues, leaseSeconds, onError } = options
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    application_name: 'signal-engine jobs',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  })
  pool.on('error', onError)
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema: SCHEMA,
    schedule: false,
    maintenanceIntervalSeconds: Math.max(1, Math.round(leaseSeconds / 3)),
    archiveCompletedAfterSeconds: KEPT_SECONDS,
    archiveFailedAfterSeconds: KEPT_SECONDS,
    deleteAfterDays: 1,
    retentionDays: 30,
  })
  boss.on('error', onError)
  await boss.start()
  for (const queue of queues) {
    await boss.createQueue(queue, {
      name: queue,
      expireInSeconds: leaseSeconds,
      retryLimit: RETRIES_MAX,
      retryDelay: 1,
    })
  }
  const rows = async (
    condition: string,
    values: readonly unknown[],
    output: string,
  ): Promise<readonly Row[]> => {
    const text = `SELECT id, state, data, ${output} AS output, retry_count, created_on, started_on, completed_on FROM ${SCHEMA}.job WHERE name = $1 ${condition}`
    return (await pool.query<Row>(text, [...values])).rows
  }
  const change = async (
    { queue, id, token }: TakenJob,
    changes: string,
    output: unknown,
  ): Promise<boolean> => {
    const text = `UPDATE ${SCHEMA}.job SET ${changes}, output = $4 WHERE ${OURS}`
    const { rowCount } = await pool.query(text, [queue, id, token, output])
    return rowCount === 1
  }
  return {
    send: async (queue, id, data) => {
      await boss.send(queue, data, { id })
    },
    // Like the library's statement, which cannot exclude jobs. The token is set in the same step: a job without one
    // would have no holder.
    take: async (queue, except = []) => {
      const token = randomUUID()
      const startedAt = new Date().toISOString()
      const next = `SELECT id FROM ${SCHEMA}.job WHERE name = $1 AND state < 'active' AND start_after < now() AND id <> ALL ($2::uuid[]) ORDER BY created_on, id LIMIT 1 FOR UPDATE SKIP LOCKED`
      const attempts = 'CASE WHEN started_on IS NULL THEN retry_count ELSE retry_count + 1 END'
      const text = `UPDATE ${SCHEMA}.job SET state = 'active', started_on = now(), retry_count = ${attempts}, output = $3 WHERE name = $1 AND id = (${next}) RETURNING id, data`
      const { rows: found } = await pool.query<Row>(text, [queue, except, { token, startedAt, progress: 0 }])
      const [job] = found
      return job === undefined ? null : { queue, id: job.id, data: job.data, token, startedAt }
    },
    renew: (job, progress) => {
      const { token, startedAt } = job
      return change(job, 'started_on = now()', { token, startedAt, progress })
    },
    complete: async (job, output) => {
      const { startedAt } = job
      const changes = `state = 'completed', completed_on = now()`
      await change(job, changes, { ...output, startedAt }).catch((error: unknown) => {
        throw isRefusal(error) ? new OutputRefusedError(error.message) : error
      })
    },
    fail: async (job, reason) => {
      const left = 'retry_count < retry_limit'
      const state = `state = (CASE WHEN ${left} THEN 'retry' ELSE 'failed' END)::${SCHEMA}.job_state`
      const ended = `completed_on = CASE WHEN ${left} THEN NULL ELSE now() END`
      const later = `start_after = now() + interval '1 second'`
      await change(job, `${state}, ${ended}, ${later}`, { message: reason })
    },
    // The take does not count as an attempt.
    giveBack: async (job, reason) => {
      await change(job, `state = 'retry', started_on = NULL`, reason === null ? null : { message: reason })
    },
    get: async (queue, id) => {
      if (!UUID.test(id)) return null
      const [row] = await rows('AND id = $2', [queue, id], 'output')
      return row === undefined ? null : jobOf(row)
    },
    list: async (queue, limit) =>
      (await rows('ORDER BY created_on DESC, id DESC LIMIT $2', [queue, limit], `output - 'result'`)).map(
        jobOf,
      ),
    countOpen: (queue) => boss.getQueueSize(queue, { before: 'completed' }),
    cancel: async (queue, id) => {
      const text = `UPDATE ${SCHEMA}.job SET state = 'cancelled', completed_on = now() WHERE name = $1 AND id = $2 AND state < 'completed'`
      return (await pool.query(text, [queue, id])).rowCount === 1
    },
    remove: (queue, ids) => boss.deleteJob(queue, [...ids]),
    close: async () => {
      await boss.stop({ graceful: false, close: false })
      await pool.end()
    },
  }
}

/** An error for a value that the server does not store, a limit of the server, or a text too long to be sent. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof RangeError || (error instanceof DatabaseError && /^(22|54)/.test(error.code ?? ''))

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Row {
  readonly id: string
  readonly state: 'created' | 'retry' | 'active' | 'completed' | 'cancelled' | 'failed'
  readonly data: JsonObject
  readonly output: (JsonObject & { readonly startedAt?: string; readonly progress?: number }) | null
  readonly retry_count: number
  readonly created_on: Date
  readonly started_on: Date | null
  readonly completed_on: Date | null
}

const STATES = {
  created: 'queued',
  retry: 'queued',
  active: 'running',
  completed: 'done',
  cancelled: 'cancelled',
  failed: 'failed',
} as const

const jobOf = ({
  id,
  state,
  data,
  output,
  retry_count,
  created_on,
  started_on,
  completed_on,
}: Row): QueuedJob => {
  const { startedAt = null, progress = 0, ...rest } = output ?? {}
  return {
    id,
    state: STATES[state],
    data,
    progress: state === 'completed' ? 1 : progress,
    createdAt: created_on.toISOString(),
    startedAt,
    endedAt: completed_on?.toISOString() ?? null,
    attempts: started_on === null ? retry_count : retry_count + 1,
    output: rest,
  }
}
