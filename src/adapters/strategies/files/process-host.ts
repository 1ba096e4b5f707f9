import { spawn, type ChildProcess } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HAS_GROUPS, ownProgramEnvironment } from '../../own-program.ts'
import { MEMORY_MB_MAX, OUT_OF_MEMORY, type CodeHost, type CodeHostListener } from './code-host.ts'
import type { CodeRequest, CodeSubject } from './messages.ts'

/**
 * For a service: a process without our variables that Node lets read its own folder and our code, and neither write nor
 * start anything. So it can read neither the environment of the service nor the identity, the vault and the settings.
 */
export class ProcessHost implements CodeHost {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>

  constructor(subject: CodeSubject, { onAnswer, onEnd, onOutput }: CodeHostListener) {
    const child = spawn(process.execPath, [...limitsFor(subject.file), PROGRAM], {
      cwd: dirname(subject.file),
      env: ownProgramEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // As threads are sent it, so that numbers, lists and dates arrive as they are.
      serialization: 'advanced',
      windowsHide: true,
      // A signal of the terminal is for the service, which ends it in order.
      detached: HAS_GROUPS,
    })
    this.#child = child
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => resolve()).once('error', () => resolve())
    })
    let errors = ''
    child.stdout?.setEncoding('utf8').on('data', onOutput)
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-ERRORS_KEPT)
      onOutput(text)
    })
    child.on('message', onAnswer)
    child.on('error', (error) => onEnd(`its process failed: ${error.message}`))
    // After all that it wrote was read.
    child.on('close', (code) => onEnd(reasonOf(errors, code)))
    child.send(subject, () => undefined)
    // A process that nobody waits for does not keep this one alive.
    for (const open of [child, child.channel, child.stdout, child.stderr] as readonly (Unreferenced | null)[])
      open?.unref()
  }

  post(request: CodeRequest): void {
    // A process that has ended says so by its exit.
    this.#child.send(request, () => undefined)
  }

  async end(): Promise<void> {
    // Whoever waits for the end of it is kept alive until then.
    this.#child.ref()
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

interface Unreferenced {
  unref(): void
}

const PROGRAM = fileURLToPath(new URL('./own-code-process.ts', import.meta.url))

const ERRORS_KEPT = 20_000

const limitsFor = (file: string): readonly string[] => {
  const [permission, ...readable] = [
    process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
    ...foldersFor(file).map((folder) => `--allow-fs-read=${join(folder, '*')}`),
  ]
  return [
    permission,
    ...readable,
    `--max-old-space-size=${MEMORY_MB_MAX}`,
    // Node 20 calls permissions an experiment.
    '--disable-warning=ExperimentalWarning',
  ]
}

/** The folder of the file, our code and the package that translates files, each by its name and by where it leads. */
const foldersFor = (file: string): readonly string[] => {
  const compiler = dirname(dirname(createRequire(import.meta.url).resolve('jiti')))
  const folders = [dirname(file), dirname(realpathSync(file)), dirname(PROGRAM), compiler]
  return [...new Set(folders.flatMap((folder) => [folder, realpathSync(folder)]))]
}

const reasonOf = (errors: string, code: number | null): string => {
  if (errors.includes('heap out of memory')) return OUT_OF_MEMORY
  const [failure] = /^\w*Error\b.*$/m.exec(errors) ?? []
  if (failure !== undefined) return `its process failed: ${failure.slice(0, 1000)}`
  return code === null ? 'its process ended' : 'its process ended: it must not call process.exit'
}
