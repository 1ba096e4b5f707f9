import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { parseSignedCheckpoint, type SignedCheckpoint } from '../../core/log/checkpoint.ts'
import { NotACopyError } from '../../engine/integrity/backup-file.ts'
import { copyInto, DamagedCopyError, type CopiedIn } from '../../engine/integrity/copy-log.ts'
import { TargetInUseError, TargetTakenError, type LogDraft } from '../../ports/log-target.ts'
import { linesOf } from './arguments.ts'
import type { Invocation } from './command.ts'
import { cannotRead, Failure } from './failure.ts'
import type { InputStream } from './terminal.ts'

/** Several times the largest event. */
const LINE_BYTES_MAX = 4 * 1024 * 1024

/** The lines of an export or a backup, compressed with gzip or not; `-` is standard input. */
export async function* copyLines(
  path: string,
  stdin: InputStream,
  onProgress: (bytesRead: number, bytesTotal: number) => void = () => undefined,
  interruption?: Interruption,
): AsyncGenerator<string> {
  const bytesTotal = path === STANDARD_INPUT ? 0 : await sizeOf(path)
  const source = path === STANDARD_INPUT ? stdin : createReadStream(path)
  // The signal also ends the wait for a pipe that delivers nothing.
  if (interruption !== undefined) addAbortSignal(interruption.signal, source)
  let bytesRead = 0
  const onRead = (chunk: Buffer): void => {
    bytesRead += chunk.length
    if (bytesTotal > 0) onProgress(bytesRead, bytesTotal)
  }
  for await (const line of linesOf(await unzipped(source, onRead), LINE_BYTES_MAX)) {
    if (line !== null) yield line
    else
      throw new Failure('file.unreadable', `${path} has a line of more than ${LINE_BYTES_MAX} bytes`, {
        advice: 'A copy of a log is written with "svc backup" or "svc export events --format jsonl".',
      })
  }
}

const STANDARD_INPUT = '-'

const unzipped = async (source: Readable, onRead: (chunk: Buffer) => void): Promise<Readable> => {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>
  const first = await chunks.next()
  const bytes = Readable.from(
    (async function* () {
      for (let next = first; next.done !== true; next = await chunks.next()) {
        const chunk = Buffer.from(next.value)
        onRead(chunk)
        yield chunk
      }
    })(),
  )
  const isZipped = first.done !== true && Buffer.from(first.value).subarray(0, 2).equals(GZIP_MAGIC)
  // The last stream reports the error of any of the streams.
  return isZipped ? pipeline(bytes, createGunzip(), () => undefined) : bytes
}

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b])

const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).size
  } catch (error) {
    throw cannotRead(path, error)
  }
}

/** Copies a file into a draft, and verifies it on the way. */
export const takeIn = async (
  { signatures, clock, progress, stdin }: Invocation,
  draft: LogDraft,
  file: string,
  {
    label,
    interruption,
    notes = [],
  }: {
    readonly label: string
    readonly interruption: Interruption
    /** Checkpoints that are stored apart from the copy. */
    readonly notes?: readonly SignedCheckpoint[]
  },
): Promise<CopiedIn> => {
  const bar = progress(label)
  return await copyInto(draft, copyLines(file, stdin, bar.update, interruption), {
    signatures,
    clock,
    checkpoints: { notes, unreadable: 0 },
  }).finally(bar.end)
}

/** Rethrows errors of copying with the name of the file. */
export const explained = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NotACopyError) throw new Failure('file.unreadable', `${path}: ${error.message}`)
    if (error instanceof DamagedCopyError) {
      throw new Failure('backup.damaged', `${path} is not an intact copy of a log: ${error.message}`, {
        advice: 'Nothing was changed here. Use another copy.',
      })
    }
    if (error instanceof TargetInUseError) throw inUse(error.message)
    if (error instanceof TargetTakenError) {
      throw new Failure('store.not_empty', error.message, {
        advice:
          'A log is imported into an empty store only. "svc restore" puts a backup in the place of a log.',
      })
    }
    const { code = '', cause } = error as NodeJS.ErrnoException
    // A stream wraps the reason for which it was aborted.
    const interrupted = [error, cause].find((reason) => reason instanceof InterruptedError)
    if (interrupted !== undefined)
      throw new Failure('request.invalid', `${interrupted.message}: nothing was changed`)
    if (code === 'EISDIR' || code === 'EACCES' || code.startsWith('Z_')) throw cannotRead(path, error)
    throw error
  }
}

export const inUse = (detail: string): Failure =>
  new Failure('store.in_use', detail, { advice: 'Stop every service on this log first.' })

/**
 * Ctrl-C during long work aborts it in order, so that partial results are removed. A second Ctrl-C ends the process.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController()
  readonly #note = (signal: NodeJS.Signals): void => {
    this.#controller.abort(new InterruptedError(`interrupted by ${signal}`))
  }

  constructor() {
    for (const signal of SIGNALS) process.once(signal, this.#note)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#note)
  }
}

class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Signed checkpoints from a file, or from another place where a copy of them is kept. */
export const checkpointsAt = async (place: string): Promise<readonly SignedCheckpoint[]> => {
  const text = await textAt(place).catch((error: unknown) => {
    throw cannotRead(`the checkpoint at ${place}`, error)
  })
  const notes = text
    .split(/(?<=\n\u2014 [^\n]+\n)/)
    .flatMap((piece) => parseSignedCheckpoint(piece.trimStart()) ?? [])
  if (notes.length > 0) return notes
  throw new Failure('file.unreadable', `there is no signed checkpoint at ${place}`)
}

const textAt = async (place: string): Promise<string> => {
  if (!/^https?:\/\//.test(place)) return readFile(place, 'utf8')
  const response = await fetch(place, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
  if (!response.ok) throw new Error(`it answered ${response.status}`)
  return response.text()
}

const ANSWER_WITHIN_MS = 10_000
