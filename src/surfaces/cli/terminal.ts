import { createInterface } from 'node:readline/promises'
import { Writable, type Readable } from 'node:stream'
import { redactText, redactValue } from '../../core/operations/redaction.ts'
import { UsageError } from './failure.ts'

export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }
export type InputStream = Readable & { readonly isTTY?: boolean }

/** Meaning of a piece of text. Its appearance depends on the terminal. */
export type Tone = 'plain' | 'heading' | 'quiet' | 'good' | 'warning' | 'bad'

/** Appearance of text: its colours, its width in columns, and the time that ages are counted from. */
export interface Style {
  readonly paint: (tone: Tone, text: string) => string
  readonly width: number
  readonly nowMs: number
}

/** Text for people, composed only where it is shown. */
export type Text = (style: Style) => string

const WIDTH = 80

export const PLAIN: Style = { paint: (_tone, text) => text, width: WIDTH, nowMs: 0 }

/** Colour only on a terminal, and not when NO_COLOR is set (no-color.org). */
export const styleFor = (
  { isTTY, columns }: Pick<TerminalStream, 'isTTY' | 'columns'>,
  environment: Readonly<Record<string, string | undefined>>,
  nowMs = 0,
): Style => {
  if (isTTY !== true) return { ...PLAIN, nowMs }
  const inColour = !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
  return { paint: inColour ? paintInColour : PLAIN.paint, width: Math.max(WIDTH, columns ?? WIDTH), nowMs }
}

const paintInColour: Style['paint'] = (tone, text) => {
  const code = COLOUR_CODES[tone]
  return code === null || text === '' ? text : `\u001b[${code}m${text}\u001b[0m`
}

const COLOUR_CODES: Readonly<Record<Tone, string | null>> = {
  plain: null,
  heading: '1',
  quiet: '2',
  good: '32',
  warning: '33',
  bad: '31',
}

/** Prints the answer of a command: a document for programs, text for people, always without secrets. */
export interface Printer {
  readonly json: boolean
  /** Prints the answer. Only the requested form is composed. */
  result(document: unknown, text: Text | string): Promise<void>
  /** Prints the answer of a command that creates a secret, which is shown only once. */
  reveal(document: unknown, text: Text | string): Promise<void>
  /** Prints text that is known to hold no secret and must stay unchanged, byte for byte. */
  asIs(text: string): Promise<void>
}

export const printerTo = (
  stdout: TerminalStream,
  { json, style }: { readonly json: boolean; readonly style: Style },
  knownSecrets: () => readonly string[],
): Printer => {
  const textOf = (text: Text | string): string => (typeof text === 'string' ? text : text(style))
  return {
    json,
    result: (document, text) =>
      writeTo(
        stdout,
        json ? documentText(redactValue(document, knownSecrets())) : redactText(textOf(text), knownSecrets()),
      ),
    reveal: (document, text) => writeTo(stdout, json ? documentText(document) : textOf(text)),
    asIs: (text) => writeTo(stdout, text),
  }
}

export const documentText = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`

/** The reader of our output has closed it, as after `svc … | head`. */
export class BrokenPipeError extends Error {
  override readonly name = 'BrokenPipeError'
}

/** Resolves when the stream has accepted the text, so that a slow reader slows down the writer. */
export const writeTo = (stream: TerminalStream, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error === null || error === undefined) resolve()
      else reject(isBrokenPipe(error) ? new BrokenPipeError('the reader is gone') : error)
    })
  })

const isBrokenPipe = (error: Error): boolean =>
  'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')

/** Writing reports its own errors. Without a listener the same error would end the process. */
export const expectErrorsOf = (stream: TerminalStream): void => {
  stream.on('error', () => undefined)
}

/** Progress of long work. */
export interface Progress {
  /** `detail` follows the bar: a rate, or the remaining time. Without a known total there is no bar. */
  readonly update: (done: number, total: number | null, detail?: string) => void
  /** Removes the bar, so that only the result remains on the screen. */
  readonly end: () => void
}

const BAR_WIDTH = 24
const ERASE_TO_END = '\u001b[K'

/** A progress bar on the error stream of a terminal. A file or a pipe gets no bar. */
export const progressOn = (stream: TerminalStream, label: string): Progress => {
  if (stream.isTTY !== true) return { update: () => undefined, end: () => undefined }
  let drawn = ''
  const draw = (line: string): void => {
    // Redrawn only when it looks different, so that frequent updates cost little.
    if (line === drawn) return
    drawn = line
    stream.write(`\r${line}${ERASE_TO_END}`)
  }
  return {
    update: (done, total, detail = '') =>
      draw(`${barOf(label, done, total)}${detail === '' ? '' : `  ${detail}`}`),
    end: () => draw(''),
  }
}

const barOf = (label: string, done: number, total: number | null): string => {
  if (total === null) return label
  const share = total <= 0 ? 1 : Math.min(1, Math.max(0, done / total))
  const filled = Math.floor(share * BAR_WIDTH)
  return `${label} [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)}%`
}

const INPUT_BYTES_MAX = 64 * 1024

/** Whether typed characters are shown. */
export type Typing = 'hidden' | 'echoed'

/** Reads all of a pipe, without the last line end, or one line from a keyboard. */
export const ask = async (
  stdin: InputStream,
  stderr: TerminalStream,
  prompt: string,
  typing: Typing,
): Promise<string> => {
  if (stdin.isTTY !== true) return (await readAll(stdin)).replace(/\r?\n$/, '')
  await writeTo(stderr, prompt)
  const output = typing === 'echoed' ? stderr : new Writable({ write: (_chunk, _encoding, done) => done() })
  const keyboard = createInterface({ input: stdin, output, terminal: true })
  try {
    return await keyboard.question('')
  } finally {
    keyboard.close()
    if (typing === 'hidden') await writeTo(stderr, '\n')
  }
}

const readAll = async (stdin: Readable): Promise<string> => {
  const bytes = await bytesOf(stdin, INPUT_BYTES_MAX)
  if (bytes === null) throw new UsageError(`standard input has more than ${INPUT_BYTES_MAX} bytes`)
  return bytes.toString('utf8')
}

/** Reads all of a stream. Null if it has more than `bytesMax` bytes. */
export const bytesOf = async (input: Readable, bytesMax: number): Promise<Buffer | null> => {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    const piece = Buffer.from(chunk as Uint8Array | string)
    length += piece.length
    if (length > bytesMax) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
