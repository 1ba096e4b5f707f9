import { createInterface } from 'node:readline/promises'
import { Writable, type Readable } from 'node:stream'
import { UsageError } from './failure.ts'
import { writeTo, type TerminalStream } from './output.ts'

export type InputStream = Readable & { readonly isTTY?: boolean }

const BYTES_MAX = 64 * 1024

/** All of a pipe, without the line end that editors leave; or one line from a keyboard, which is not shown. */
export const readSecretFrom = (stdin: InputStream, stderr: TerminalStream, prompt: string): Promise<string> =>
  readFrom(stdin, stderr, { prompt, echo: nowhere() })

/** The same for what may be seen while it is typed. */
export const readAnswerFrom = (stdin: InputStream, stderr: TerminalStream, prompt: string): Promise<string> =>
  readFrom(stdin, stderr, { prompt, echo: stderr })

const readFrom = async (
  stdin: InputStream,
  stderr: TerminalStream,
  { prompt, echo }: { readonly prompt: string; readonly echo: Writable },
): Promise<string> => {
  if (stdin.isTTY !== true) return (await readAll(stdin)).replace(/\r?\n$/, '')
  await writeTo(stderr, prompt)
  const keyboard = createInterface({ input: stdin, output: echo, terminal: true })
  try {
    return await keyboard.question('')
  } finally {
    keyboard.close()
    if (echo !== stderr) await writeTo(stderr, '\n')
  }
}

const readAll = async (stdin: Readable): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk as Uint8Array | string)
    bytes += piece.length
    if (bytes > BYTES_MAX) throw new UsageError(`standard input has more than ${BYTES_MAX} bytes`)
    chunks.push(piece)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() })
