import { spawn, type ChildProcess } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HAS_GROUPS } from '../../own-program.ts'
import { MEMORY_MB_MAX, outOfMemory, type CodeHost, type CodeHostListener } from './code-host.ts'
import type { CodeRequest, CodeSubject } from './messages.ts'
import { confinedTo, foldersFor } from './permissions.ts'

/** For a service: a process with the permissions of `confinedTo`, which can read its own folder and our code. */
export class ProcessHost implements CodeHost {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>

  constructor(subject: CodeSubject, { onAnswer, onEnd, onOutput }: CodeHostListener) {
    const { flags, env } = confinedTo({ folders: foldersFor(subject.file), files: [] })
    const child = spawn(process.execPath, [...flags, `--max-old-space-size=${MEMORY_MB_MAX}`, PROGRAM], {
      cwd: dirname(subject.file),
      env,
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
    child.on('close', (code) => onEnd(endOfProcess(errors, code, MEMORY_MB_MAX)))
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

/** Number of characters of the error output that are kept, to find out why a process ended. */
export const ERRORS_KEPT = 20_000

/** Reason why a process with code of the user ended, as its author is told. */
export const endOfProcess = (errors: string, code: number | null, memoryMbMax: number): string => {
  if (errors.includes('heap out of memory')) return outOfMemory(memoryMbMax)
  const [failure] = /^\w*Error\b.*$/m.exec(errors) ?? []
  if (failure !== undefined) return `its process failed: ${failure.slice(0, 1000)}`
  return code === null ? 'its process ended' : 'its process ended: it must not call process.exit'
}
