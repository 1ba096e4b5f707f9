import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSteadyTime } from '../../src/adapters/platform/clock/steady-time.ts'
import { createSystemClock } from '../../src/adapters/platform/clock/system-clock.ts'
import { createCommandDependencies } from '../../src/compose/command-dependencies.ts'
import { environmentOf, VERSION, type Environment } from '../../src/compose/environment.ts'
import {
  explainFailedStart,
  startService as startInProcess,
  type Service,
} from '../../src/compose/service.ts'
import { runCommandLine } from '../../src/surfaces/cli/run.ts'

const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const BUILT = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export const TOKEN = 'black-box-token-of-more-than-thirty-two-characters'

export type Variables = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Null if the body is no JSON. */
  readonly body: never
}

export interface RunningService {
  readonly baseUrl: string
  readonly home: string
  /** Everything the service wrote to standard output and standard error. */
  output(): string
  /**
   * Sends a request with the token, unless headers replace it. `path` is below the prefix, or below the root if it
   * begins with `//`.
   */
  call(
    method: string,
    path: string,
    request?: { readonly body?: unknown; readonly headers?: Variables },
  ): Promise<Answer>
  /** Stops the service like SIGTERM by default. Resolves with the exit code. */
  stop(signal?: 'SIGTERM' | 'SIGINT'): Promise<number | null>
}

/** A service in a separate process, for tests whose subject is the process. */
export interface ServiceProcess extends Omit<RunningService, 'stop'> {
  /** Sends the signal and returns at once. */
  signal(signal: NodeJS.Signals): void
  /** Sends the signal, SIGTERM by default. Resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** A new folder for an installation. Removed by `cleanUp`. */
export const newHome = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-home-'))
  homes.push(home)
  return home
}

/** A new folder with a copy of this one, whose service must not run. Faster than repeating the steps that filled it. */
export const copyOf = async (home: string): Promise<string> => {
  const copy = await newHome()
  await cp(home, copy, { recursive: true, preserveTimestamps: true })
  return copy
}

/** The environment of a new user: the variables of the test, and none of the product's from outside. */
const cleanEnvironment = (variables: Variables): Variables => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith('SVC_'))
  return { ...(Object.fromEntries(inherited) as Variables), NO_COLOR: '1', ...variables }
}

export interface StartOptions {
  readonly words?: readonly string[]
  /** Difference between the clock of the service and the clock of the machine. */
  readonly clockOffsetMs?: number
}

/** Clock offset with which the next full minute is this many seconds away, for jobs that run every minute. */
export const untilNextMinute = (seconds: number): number =>
  MINUTE_MS - seconds * 1000 - (Date.now() % MINUTE_MS)

const MINUTE_MS = 60_000

export interface ProcessOptions {
  readonly words?: readonly string[]
  /** Limits the size of every file, like a full disk for this process alone. */
  readonly fileKibMax?: number
}

/** The environment of a service that listens on a free port. */
const serviceEnvironment = (words: readonly string[], variables: Variables): Variables => {
  // `up` creates a token itself.
  const token: Variables = words[0] === 'up' ? {} : { SVC_API__AUTH_TOKEN: TOKEN }
  return cleanEnvironment({ SVC_API__PORT: '0', SVC_DASHBOARD__PORT: '0', ...token, ...variables })
}

/** Runs the service in this process as `svc serve` does: same composition, real socket, real files. */
export const startService = async (
  home: string,
  variables: Variables = {},
  { words = ['serve'], clockOffsetMs = 0 }: StartOptions = {},
): Promise<RunningService> => {
  const stops = new Set<(drains: boolean) => void>()
  const output = textCollector()
  const environment = serviceEnvironment(words, variables)
  const ended = runWords(home, words, environment, '', output, output, async (place, options) => {
    const service: Service = await startInProcess(
      clockOffsetMs === 0 ? place : withClock(place, clockOffsetMs),
      options,
    ).catch(explainFailedStart)
    const stopped = new Promise<void>((resolve, reject) => {
      stops.add((drains) => void service.close({ drains }).then(resolve, reject))
    })
    const { baseUrl, dashboardUrl, ready } = service
    return { baseUrl, dashboardUrl, ready, stopped }
  })
  const stop = async (signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number | null> => {
    runningHere.delete(stop)
    for (const end of stops) end(signal === 'SIGTERM')
    stops.clear()
    return ended
  }
  runningHere.add(stop)
  const baseUrl = await Promise.race([
    output.found(LISTENING),
    ended.then((exitCode) => {
      runningHere.delete(stop)
      throw new Error(`the service ended with ${exitCode}:\n${output.text()}`)
    }),
  ])
  return { baseUrl, home, output: output.text, call: callerOf(baseUrl), stop }
}

const withClock = (environment: Environment, offsetMs: number): Environment => {
  const time = createSteadyTime({
    wallMs: () => Date.now() + offsetMs,
    elapsedMs: () => performance.now(),
    uptimeMs: null,
  })
  return { ...environment, time, clock: createSystemClock(() => time.now()) }
}

const LISTENING = /^listening on (\S+)$/m

/** Runs the built service in a separate process, listening on a free port. */
export const startProcess = async (
  home: string,
  variables: Variables = {},
  { words = ['serve'], fileKibMax }: ProcessOptions = {},
): Promise<ServiceProcess> => {
  if (!existsSync(BUILT)) throw new Error('the service is not built: run npm run build')
  const command = [process.execPath, SVC, '--home', home, ...words]
  // The shell counts in blocks of 512 bytes.
  const limit = fileKibMax === undefined ? 'unlimited' : String(fileKibMax * 2)
  const child = spawn('sh', ['-c', `ulimit -f ${limit} && exec "$@"`, 'sh', ...command], {
    env: serviceEnvironment(words, variables),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = once(child, 'close').then(() => child.exitCode)
  const baseUrl = await listening(child, () => output)
  return {
    baseUrl,
    home,
    output: () => output,
    call: callerOf(baseUrl),
    signal: (name) => void child.kill(name),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

const callerOf =
  (baseUrl: string): RunningService['call'] =>
  async (method, path, request = {}) =>
    finished(baseUrl, path, await callService(baseUrl, method, path, request))

/** URL of the dashboard; null if there is none. */
export const dashboardUrlOf = async (service: Pick<RunningService, 'output'>): Promise<string | null> => {
  // All lines of the start are printed before this word, but perhaps in pieces.
  while (!service.output().includes('Stop ')) await sleep(20)
  return /^Dashboard\s+(http\S+)$/m.exec(service.output())?.[1] ?? null
}

export interface CommandResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command of the command line in this process. */
export const svc = async (
  home: string,
  words: readonly string[],
  variables: Variables = {},
  input = '',
): Promise<CommandResult> => {
  const stdout = textCollector()
  const stderr = textCollector()
  const exitCode = await runWords(home, words, cleanEnvironment(variables), input, stdout, stderr)
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

/**
 * Runs one command that needs the store alone. Earlier connections of this process to SQLite are collected first: a closed
 * one keeps its locks until its statements are collected.
 */
export const svcAlone = async (...command: Parameters<typeof svc>): Promise<CommandResult> => {
  await releaseLocks()
  return svc(...command)
}

/** Collects all closed connections of this process. */
export const releaseLocks = async (): Promise<void> => {
  collectGarbage()
  // Native objects are finalized in a later turn.
  await new Promise((resolve) => setImmediate(resolve))
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

/** Runs one command of the built command line in a separate process. */
export const svcProcess = (
  home: string,
  words: readonly string[],
  variables: Variables = {},
  input = '',
): CommandResult => {
  const env = cleanEnvironment(variables)
  const ended = spawnSync(process.execPath, [SVC, '--home', home, ...words], { env, encoding: 'utf8', input })
  return { exitCode: ended.status, stdout: ended.stdout, stderr: ended.stderr }
}

/** Stops running services and removes every home of this file. Call it in `afterAll`. */
export const cleanUp = async (): Promise<void> => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
  await Promise.all([...runningHere].map((stop) => stop('SIGINT')))
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true })
}

const homes: string[] = []
const running = new Set<ChildProcess>()
const runningHere = new Set<(signal: 'SIGINT') => Promise<number | null>>()

type StartHere = (
  environment: Environment,
  options: Parameters<typeof startInProcess>[1],
) => ReturnType<ReturnType<typeof createCommandDependencies>['startService']>

/** Runs a command line as src/cli.ts does. `start` replaces the service that ends with a signal to the process. */
const runWords = (
  home: string,
  words: readonly string[],
  variables: Variables,
  input: string,
  stdout: TextCollector,
  stderr: TextCollector,
  start?: StartHere,
): Promise<number> => {
  const at = (folder: string): Environment => ({
    ...environmentOf(folder, variables, VERSION),
    writeLog: stderr.write,
  })
  return runCommandLine(['--home', home, ...words], {
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    environment: variables,
    currentFolder: process.cwd(),
    version: VERSION,
    clock: at(home).clock,
    dependenciesAt: async (folder) => {
      const environment = at(folder)
      const dependencies = createCommandDependencies(environment)
      return start === undefined
        ? dependencies
        : { ...dependencies, startService: (options) => start(environment, options) }
    },
  })
}

interface TextCollector {
  readonly stream: Writable
  readonly write: (text: string) => void
  readonly text: () => string
  /** Resolves with the first group of the pattern as soon as the text has it. */
  readonly found: (pattern: RegExp) => Promise<string>
}

const textCollector = (): TextCollector => {
  let text = ''
  const waiting = new Set<() => void>()
  const write = (more: string): void => {
    text += more
    for (const look of waiting) look()
  }
  return {
    stream: new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        write(String(chunk))
        done()
      },
    }),
    write,
    text: () => text,
    found: (pattern) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = pattern.exec(text)?.[1]
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}

/** Waits for the report of a verification that takes longer than a second and therefore is a job, as a client would. */
const finished = async (baseUrl: string, path: string, answer: Answer): Promise<Answer> => {
  const { job } = (answer.body ?? {}) as { readonly job?: { readonly id: string } }
  if (answer.status !== 202 || !path.startsWith('/integrity') || job === undefined) return answer
  for (;;) {
    const { body } = await callService(baseUrl, 'GET', `/integrity/progress?job=${job.id}`, {})
    const { status, report } = (body as { readonly job: { readonly status: string; readonly report: never } })
      .job
    if (status === 'done' || status === 'failed') return { ...answer, status: 200, body: report }
    await sleep(20)
  }
}

const listening = (child: ChildProcess, output: () => string): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      const url = LISTENING.exec(output())?.[1]
      if (url !== undefined) resolve(url)
    })
    child.on('close', (code) => reject(new Error(`the service ended with ${code}:\n${output()}`)))
  })

const callService = async (
  baseUrl: string,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Variables },
): Promise<Answer> => {
  const url = path.startsWith('//') ? new URL(path.slice(1), baseUrl).href : `${baseUrl}${path}`
  const sent = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: jsonOf(text) as never }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // Plain text and HTML are valid answers, too.
    return null
  }
}
