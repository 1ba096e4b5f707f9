import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const BUILT = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export const TOKEN = 'black-box-token-of-more-than-thirty-two-characters'

export type Variables = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Null where the body is no JSON. */
  readonly body: never
}

export interface RunningService {
  readonly baseUrl: string
  readonly home: string
  /** Everything it wrote to standard output and standard error. */
  output(): string
  /** With the token, unless headers say otherwise. `path` is below the prefix, or below the root if it begins with `//`. */
  call(
    method: string,
    path: string,
    request?: { readonly body?: unknown; readonly headers?: Variables },
  ): Promise<Answer>
  /** SIGTERM by default; resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** A service in a process of its own. */
export interface ServiceProcess extends RunningService {
  /** Without waiting for what comes of it. */
  signal(signal: NodeJS.Signals): void
}

/** A new folder for an installation. Removed by `cleanUp`. */
export const newHome = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-home-'))
  homes.push(home)
  return home
}

/** A new folder with everything that is in this one, whose service does not run. Quicker than a service that does it all again. */
export const copyOf = async (home: string): Promise<string> => {
  const copy = await newHome()
  await cp(home, copy, { recursive: true, preserveTimestamps: true })
  return copy
}

/** The environment of a newcomer: nothing of ours but what a test says. */
const cleanEnvironment = (variables: Variables): Variables => {
  const inherited = Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith('SVC_'))
  return { ...(Object.fromEntries(inherited) as Variables), NO_COLOR: '1', ...variables }
}

export interface StartOptions {
  readonly words?: readonly string[]
  /** No file may grow beyond this: a full disk, for this process alone. */
  readonly fileKibMax?: number
}

/** The built service as its own process, listening on a free port. */
export const startService = async (
  home: string,
  variables: Variables = {},
  { words = ['serve'], fileKibMax }: StartOptions = {},
): Promise<ServiceProcess> => {
  if (!existsSync(BUILT)) throw new Error('the service is not built: run npm run build')
  // `up` makes a token of its own.
  const token: Variables = words[0] === 'up' ? {} : { SVC_API__AUTH_TOKEN: TOKEN }
  const env = cleanEnvironment({ SVC_API__PORT: '0', SVC_DASHBOARD__PORT: '0', ...token, ...variables })
  const command = [process.execPath, SVC, '--home', home, ...words]
  // The shell counts in blocks of 512 bytes.
  const limit = fileKibMax === undefined ? 'unlimited' : String(fileKibMax * 2)
  const child = spawn('sh', ['-c', `ulimit -f ${limit} && exec "$@"`, 'sh', ...command], {
    env,
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
    call: async (method, path, request = {}) =>
      finished(baseUrl, path, await callService(baseUrl, method, path, request)),
    signal: (name) => void child.kill(name),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

/** Where its dashboard is; null if there is none. */
export const dashboardUrlOf = async (service: RunningService): Promise<string | null> => {
  // All of the start is printed before this word, but perhaps in pieces.
  while (!service.output().includes('Stop ')) await sleep(20)
  return /^Dashboard\s+(http\S+)$/m.exec(service.output())?.[1] ?? null
}

export interface CommandResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** One command of the built command line. */
export const svc = (
  home: string,
  words: readonly string[],
  variables: Variables = {},
  input = '',
): CommandResult => {
  const env = cleanEnvironment(variables)
  const ended = spawnSync(process.execPath, [SVC, '--home', home, ...words], { env, encoding: 'utf8', input })
  return { exitCode: ended.status, stdout: ended.stdout, stderr: ended.stderr }
}

/** The same beside what this process serves meanwhile. Gives the exit code. */
export const svcBeside = async (
  home: string,
  words: readonly string[],
  variables: Variables = {},
): Promise<number | null> => {
  const child = spawn(process.execPath, [SVC, '--home', home, ...words], {
    env: cleanEnvironment(variables),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await once(child, 'close')
  return child.exitCode
}

/** For `afterAll`: nothing of a test stays behind. */
export const cleanUp = async (): Promise<void> => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true })
}

const homes: string[] = []
const running = new Set<ChildProcess>()

/** A verification that takes longer than a second is a job: its report is waited for, as any client would. */
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
      const url = /^listening on (\S+)$/m.exec(output())?.[1]
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
    // Plain text and HTML are answers, too.
    return null
  }
}
