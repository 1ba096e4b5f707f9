import { randomUUID } from 'node:crypto'
import { DatabaseError, Pool } from 'pg'
import type { JsonObject } from '../../../core/shared/json.ts'
import { OutputRefusedError, type JobQueue, type QueuedJob, type TakenJob } from '../../../ports/job-queue.ts'

export interface PostgresJobQueueOptions {
  readonly url: string
  /** Time without renewal after which a job is given to another worker. */
  readonly leaseSeconds: number
  readonly onError: (error: Error) => void
}

const CONNECTIONS_MAX = 4
const ATTEMPTS_MAX = 6
const KEPT_DAYS = 30
// A server that does not answer must not block a worker for ever. A large result needs time.
const CONNECT_TIMEOUT_MS = 10_000
const QUERY_TIMEOUT_MS = 60_000
// Any number will do, as long as every process that opens a queue takes the same one.
const SCHEMA_LOCK = 7_304_216_582

const SCHEMA = `
CREATE SCHEMA IF NOT EXISTS svc_jobs;
CREATE TABLE IF NOT EXISTS svc_jobs.jobs (
  queue text NOT NULL,
  id uuid NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  data jsonb NOT NULL,
  output jsonb NOT NULL DEFAULT '{}',
  progress double precision NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  token uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  not_before timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  renewed_at timestamptz,
  ended_at timestamptz,
  PRIMARY KEY (queue, id)
);
CREATE INDEX IF NOT EXISTS jobs_open ON svc_jobs.jobs (queue, seq) WHERE state IN ('queued', 'running');
DELETE FROM svc_jobs.jobs WHERE coalesce(ended_at, renewed_at, created_at) < now() - interval '${KEPT_DAYS} days'`

/**
 * Jobs in a table of their own, in the database of the log. A worker that takes a job writes its token into the row and
 * renews the row while it works. Each later statement of the worker requires this token, so a worker that lost its job
 * cannot change it. The job of a killed process is taken up again once it was not renewed for the time of the lease.
 */
export const openPostgresJobQueue = async (options: PostgresJobQueueOptions): Promise<JobQueue> => {
  const { url, leaseSeconds, onError } = options
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    application_name: 'signal-engine jobs',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  })
  pool.on('error', onError)
  // One message is one transaction. Processes that start at once wait for each other.
  await pool.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK});${SCHEMA}`)

  const isLate = `state = 'running' AND renewed_at < now() - interval '${leaseSeconds} seconds'`
  const rows = async (condition: string, values: readonly unknown[], output: string) => {
    const state = `CASE WHEN ${isLate} THEN 'queued' ELSE state END AS state`
    const text = `SELECT id, ${state}, data, ${output} AS output, progress, attempts, created_at, started_at, ended_at FROM svc_jobs.jobs WHERE queue = $1 ${condition}`
    return (await pool.query<Row>(text, [...values])).rows.map(jobOf)
  }
  /** Changes a job that the worker still holds. False if it was cancelled, or given to another worker. */
  const change = async (
    { queue, id, token }: TakenJob,
    changes: string,
    values: readonly unknown[],
  ): Promise<boolean> => {
    const text = `UPDATE svc_jobs.jobs SET ${changes} WHERE queue = $1 AND id = $2 AND token = $3 AND state = 'running'`
    return (await pool.query(text, [queue, id, token, ...values])).rowCount === 1
  }
  return {
    send: async (queue, id, data) => {
      const text = `INSERT INTO svc_jobs.jobs (queue, id, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
      await pool.query(text, [queue, id, data])
    },
    take: async (queue, except = []) => {
      const given = `state = 'failed', ended_at = now(), output = '{"message":"no worker finished it in time"}'`
      await pool.query(
        `UPDATE svc_jobs.jobs SET ${given} WHERE queue = $1 AND ${isLate} AND attempts >= ${ATTEMPTS_MAX}`,
        [queue],
      )
      const token = randomUUID()
      const waits = `(state = 'queued' AND not_before <= now() OR ${isLate}) AND id <> ALL ($2::uuid[])`
      const next = `SELECT id FROM svc_jobs.jobs WHERE queue = $1 AND ${waits} ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED`
      const taken = `state = 'running', token = $3, started_at = now(), renewed_at = now(), progress = 0, output = '{}', attempts = attempts + 1`
      const text = `UPDATE svc_jobs.jobs SET ${taken} WHERE queue = $1 AND id = (${next}) RETURNING id, data`
      const { rows: found } = await pool.query<Pick<Row, 'id' | 'data'>>(text, [queue, except, token])
      return found[0] === undefined ? null : { queue, ...found[0], token }
    },
    renew: (job, progress) => change(job, 'renewed_at = now(), progress = $4', [progress]),
    complete: async (job, output) => {
      const done = `state = 'done', ended_at = now(), progress = 1, output = $4`
      await change(job, done, [output]).catch((error: unknown) => {
        throw isRefusal(error) ? new OutputRefusedError(error.message) : error
      })
    },
    fail: async (job, reason) => {
      const state = `state = CASE WHEN attempts < ${ATTEMPTS_MAX} THEN 'queued' ELSE 'failed' END`
      const ended = `ended_at = CASE WHEN attempts < ${ATTEMPTS_MAX} THEN NULL ELSE now() END`
      const later = `not_before = now() + interval '1 second'`
      await change(job, `${state}, ${ended}, ${later}, output = $4`, [{ message: reason }])
    },
    // The take does not count as an attempt.
    giveBack: async (job, reason) => {
      const waiting = `state = 'queued', started_at = NULL, attempts = attempts - 1`
      await change(job, `${waiting}, output = $4`, [reason === null ? {} : { message: reason }])
    },
    get: async (queue, id) =>
      UUID.test(id) ? ((await rows('AND id = $2', [queue, id], 'output'))[0] ?? null) : null,
    list: (queue, limit) => rows('ORDER BY seq DESC LIMIT $2', [queue, limit], `output - 'result'`),
    countOpen: async (queue) => {
      const text = `SELECT count(*)::int AS count FROM svc_jobs.jobs WHERE queue = $1 AND state IN ('queued', 'running')`
      return (await pool.query<{ count: number }>(text, [queue])).rows[0]?.count ?? 0
    },
    cancel: async (queue, id) => {
      const text = `UPDATE svc_jobs.jobs SET state = 'cancelled', ended_at = now() WHERE queue = $1 AND id = $2 AND state IN ('queued', 'running')`
      return (await pool.query(text, [queue, id])).rowCount === 1
    },
    remove: async (queue, ids) => {
      await pool.query('DELETE FROM svc_jobs.jobs WHERE queue = $1 AND id = ANY ($2::uuid[])', [queue, ids])
    },
    close: () => pool.end(),
  }
}

/** An error for a value that the server does not store, a limit of the server, or a text too long to be sent. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof RangeError || (error instanceof DatabaseError && /^(22|54)/.test(error.code ?? ''))

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Row extends Pick<QueuedJob, 'id' | 'state' | 'progress' | 'attempts'> {
  readonly data: JsonObject
  readonly output: JsonObject
  readonly created_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

const jobOf = ({ created_at, started_at, ended_at, ...row }: Row): QueuedJob => ({
  ...row,
  createdAt: created_at.toISOString(),
  startedAt: started_at?.toISOString() ?? null,
  endedAt: ended_at?.toISOString() ?? null,
})
