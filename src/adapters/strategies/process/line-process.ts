import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { StrategyError } from '../../../core/strategies/strategy.ts'
import { cutOff, HAS_GROUPS, ownProgramEnvironment, type OwnProgramOptions } from '../../own-program.ts'

const LINE_BYTES_MAX = 65_536
const END_MS = 1000

/** A program that answers each line of JSON with one line of JSON. The first question starts it. */
export class LineProcess {
  readonly #command: readonly string[]
  readonly #folder: string
  readonly #options: OwnProgramOptions
  #child: ChildProcessWithoutNullStreams | null = null
  #end: string | null = null
  #waiting: { readonly take: (line: string) => void; readonly fail: (reason: string) => void } | null = null
  #text = ''
  #hasAnswered = false

  constructor(command: readonly string[], folder: string, options: OwnProgramOptions) {
    this.#command = command
    this.#folder = folder
    this.#options = options
  }

  /** Asks one question at a time. */
  ask(question: object): Promise<unknown> {
    if (this.#end !== null) return Promise.reject(new StrategyError(this.#end))
    this.#child ??= this.#start()
    const child = this.#child
    return new Promise((resolve, reject) => {
      const msMax = this.#hasAnswered ? this.#options.answerMsMax : this.#options.loadMsMax
      const timer = setTimeout(() => this.#lose(`no answer in ${msMax / 1000} seconds`), msMax)
      const fail = (reason: string): void => {
        clearTimeout(timer)
        this.#waiting = null
        reject(new StrategyError(reason))
      }
      const take = (line: string): void => {
        clearTimeout(timer)
        this.#waiting = null
        this.#hasAnswered = true
        try {
          resolve(JSON.parse(line))
        } catch {
          this.#lose(`its answer is no JSON: ${line.slice(0, 100)}`)
          reject(new StrategyError(this.#end ?? 'its answer is no JSON'))
        }
      }
      this.#waiting = { take, fail }
      child.stdin.write(`${JSON.stringify(question)}\n`)
    })
  }

  async close(): Promise<void> {
    const child = this.#child
    this.#end ??= 'it is closed'
    this.#waiting?.fail(this.#end)
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    // A process that could not be started has no exit event.
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve()).once('error', () => resolve())
    })
    child.stdin.end()
    const timer = setTimeout(() => this.#kill(), END_MS)
    await ended
    clearTimeout(timer)
  }

  #start(): ChildProcessWithoutNullStreams {
    const [program = '', ...args] = this.#command
    const child = spawn(program, args, {
      cwd: this.#folder,
      env: ownProgramEnvironment(process.env),
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      // A process group of its own, so that its children end with it: many programs are started by a script.
      detached: HAS_GROUPS,
    })
    child.on('error', (error) => this.#lose(`cannot run ${program}: ${error.message}`))
    // Ignored: after a full or closed pipe, the exit gives the reason.
    child.stdin.on('error', () => undefined)
    let errors = ''
    child.on('exit', (code, signal) => {
      const last = errors.trim().split('\n').at(-1) ?? ''
      this.#lose(
        `it ended with ${signal ?? `exit code ${code}`}${last === '' ? '' : `: ${last.slice(0, 300)}`}`,
      )
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    const onOutput = cutOff(this.#options.onOutput)
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-2000)
      onOutput(text)
    })
    return child
  }

  #read(text: string): void {
    this.#text += text
    let end = this.#text.indexOf('\n')
    while (end !== -1 && this.#end === null) {
      const line = this.#text.slice(0, end)
      this.#text = this.#text.slice(end + 1)
      if (line.length > LINE_BYTES_MAX) return this.#lose(TOO_LONG)
      if (this.#waiting === null) return this.#lose('it wrote a line that it was not asked for')
      this.#waiting.take(line)
      end = this.#text.indexOf('\n')
    }
    if (this.#text.length > LINE_BYTES_MAX) this.#lose(TOO_LONG)
  }

  #lose(reason: string): void {
    if (this.#end !== null) return
    this.#end = reason
    this.#text = ''
    this.#waiting?.fail(reason)
    this.#kill()
  }

  #kill(): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(HAS_GROUPS ? -pid : pid, 'SIGKILL')
    } catch {
      // The processes have already ended.
    }
  }
}

const TOO_LONG = `it wrote a line of more than ${LINE_BYTES_MAX} characters`
