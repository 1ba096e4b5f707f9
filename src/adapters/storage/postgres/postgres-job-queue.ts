import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import PgBoss from 'pg-boss'
import type { JsonObject } from '../../../core/shared/json.ts'
import type { JobQueue, QueuedJob } from '../../../ports/job-queue.ts'

export interface PostgresJobQueueOptions {
  readonly url: string
  readonly queues: readonly string[]
  /** A job that is not renewed for this long is given to somebody else. */
  readonly leaseSeconds: number
  readonly onError: (error: Error) => void
}

const SCHEMA = 'svc_jobs'
const CONNECTIONS_MAX = 4
const RETRIES_MAX = 5
const KEPT_SECONDS = 30 * 86_400

/**
 * Jobs of pg-boss in the database of the log, in a schema of their own. Its expiry is our lease: a job counts from
 * `started_on`, which is moved on while somebody works on it, so that the job of a process that was killed is taken up
 * again after seconds, however long a job may take.
 */
export const openPostgresJobQueue = async (options: PostgresJobQueueOptions): Promise<JobQueue> => {
  const { url, queues, leaseSeconds, onError } = options
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    application_name: 'signal-engine jobs',
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
  return {
    send: async (queue, id, data) => {
      await boss.send(queue, data, { id })
    },
    take: async (queue) => {
      const [job] = await boss.fetch<JsonObject>(queue)
      if (job === undefined) return null
      const token = randomUUID()
      const startedAt = new Date().toISOString()
      await pool.query(`UPDATE ${SCHEMA}.job SET output = $3 WHERE name = $1 AND id = $2`, [
        queue,
        job.id,
        { token, startedAt, progress: 0 },
      ])
      return { queue, id: job.id, data: job.data, token, startedAt }
    },
    renew: async ({ queue, id, token, startedAt }, progress) => {
      const { rowCount } = await pool.query(
        `UPDATE ${SCHEMA}.job SET started_on = now(), output = $4 WHERE name = $1 AND id = $2 AND state = 'active' AND output->>'token' = $3`,
        [queue, id, token, { token, startedAt, progress }],
      )
      return rowCount === 1
    },
    complete: ({ queue, id, startedAt }, output) => boss.complete(queue, id, { ...output, startedAt }),
    fail: ({ queue, id }, reason) => boss.fail(queue, id, { message: reason }),
    giveBack: async ({ queue, id, token }, reason) => {
      await pool.query(
        `UPDATE ${SCHEMA}.job SET state = 'retry', start_after = now() + interval '1 second', output = $4 WHERE name = $1 AND id = $2 AND state = 'active' AND output->>'token' = $3`,
        [queue, id, token, { message: reason }],
      )
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
    cancel: (queue, id) => boss.cancel(queue, id),
    remove: (queue, ids) => boss.deleteJob(queue, [...ids]),
    close: async () => {
      await boss.stop({ graceful: false, close: false })
      await pool.end()
    },
  }
}

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
    attempts: started_on === null ? 0 : retry_count + 1,
    output: rest,
  }
}
