import { Client, Pool, type ClientConfig } from 'pg'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { LogClosedError, unavailable } from './errors.ts'

export interface Server {
  readonly url: string
  readonly statementTimeoutMs: number
  /** On top of the server's own limit: it is reached only if the server cannot even say that it gave up. */
  readonly answerGraceMs?: number
}

// Short, since an attempt that began while the network was away may never be answered.
const CONNECT_TIMEOUT_MS = 2_000
const ANSWER_GRACE_MS = 5_000
const GOODBYE_TIMEOUT_MS = 1_000

/** A connection of its own. When it is lost, queries under way are rejected. */
export const connect = async (
  server: Server,
  name: string,
  onLost: () => void = () => undefined,
): Promise<Client> => {
  // Pipelined: queries leave at once, and one that is never answered ends the connection for all of them.
  const client = new Client({ ...configOf(server), pipeline: true })
  // Without a listener for errors the end of an idle connection would end the process.
  client.on('error', onLost)
  client.on('end', onLost)
  try {
    await client.connect()
    await client.query(sessionSettings(server, name))
    return client
  } catch (error) {
    client.connection.stream.destroy()
    throw unavailable('cannot connect to PostgreSQL', error)
  }
}

/** Says goodbye after the queries under way, and goes without an answer if none comes. */
export const disconnect = async (client: Client): Promise<void> => {
  const timer = setTimeout(() => client.connection.stream.destroy(), GOODBYE_TIMEOUT_MS)
  await client.end()
  clearTimeout(timer)
}

/** Connections for reading, opened when needed. A read waits for a free one as long as a statement may take. */
export const connectionPool = (server: Server, connectionsMax: number): Pool => {
  const config = configOf(server)
  const pool = new Pool({
    ...config,
    // The pool has one limit for waiting and for connecting: here it is the longer one, in the client the shorter one.
    connectionTimeoutMillis: server.statementTimeoutMs,
    Client: class extends Client {
      constructor() {
        super(config)
      }
    },
    max: connectionsMax,
    verify: (client, done) => {
      client.query(sessionSettings(server, 'signal-engine reader')).then(() => done(), done)
    },
  })
  // The pool has already thrown the lost connection away and opens another one for the next query.
  pool.on('error', () => undefined)
  // While it sets up a new connection the pool does not listen to it, and its end would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

const configOf = ({ url, statementTimeoutMs, answerGraceMs = ANSWER_GRACE_MS }: Server): ClientConfig => ({
  connectionString: url,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  query_timeout: statementTimeoutMs + answerGraceMs,
  keepAlive: true,
})

/**
 * Set in the session, where neither the address nor the server's own settings can undo them.
 * Every statement follows an index in its order; the planner, which can only guess how much a page will match,
 * must not choose to collect and sort a whole domain instead. So one plan is enough for any values.
 */
const sessionSettings = ({ statementTimeoutMs }: Server, name: string): string => `
SET application_name = '${name}';
SET statement_timeout = ${statementTimeoutMs};
SET default_transaction_isolation = 'read committed';
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SET bytea_output = 'hex';
SET jit = off;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
`

const PAUSE_MS_MIN = 50
// A server that is back is found within two seconds.
const PAUSE_MS_MAX = 500

/** One connection that is made again after it was lost: at once for the first time, then with growing pauses. */
export class ConnectionKeeper {
  readonly #connect: (onLost: () => void) => Promise<Client>
  #client: Promise<Client> | null = null
  #failures = 0
  #pausedUntilMs = 0
  #closed = false

  constructor(open: (onLost: () => void) => Promise<Client>) {
    this.#connect = open
  }

  /** How long until `get` tries again. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntilMs - Date.now())
  }

  /** Throws StoreUnavailableError when there is no connection, without trying while it pauses. */
  async get(): Promise<Client> {
    if (this.#closed) throw new LogClosedError()
    if (this.#client !== null) return this.#client
    if (this.pauseMs > 0) throw new StoreUnavailableError('PostgreSQL is not reachable; trying again soon')
    const opening: Promise<Client> = this.#open(() => {
      if (this.#client === opening) this.#client = null
    })
    this.#client = opening
    return opening
  }

  async close(): Promise<void> {
    this.#closed = true
    // A connection that never came about needs no end.
    const client = await this.#client?.catch(() => null)
    if (client !== null && client !== undefined) await disconnect(client)
  }

  async #open(forget: () => void): Promise<Client> {
    try {
      const client = await this.#connect(forget)
      this.#failures = 0
      return client
    } catch (error) {
      forget()
      this.#pausedUntilMs = Date.now() + Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** this.#failures)
      this.#failures += 1
      throw error
    }
  }
}
