import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Failure } from './failure.ts'

/** Several times the largest event. */
const LINE_BYTES_MAX = 4 * 1024 * 1024
const LINE_END = 0x0a

/** The lines of a file. Only `\n` ends a line: JSON may hold the other line ends of Unicode as they are. */
export async function* linesOf(
  path: string,
  onProgress: (bytesRead: number, bytesTotal: number) => void,
): AsyncIterable<string> {
  const bytesTotal = await sizeOf(path)
  let bytesRead = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytesRead += chunk.length
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
      yield bytes.toString('utf8', start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
    if (rest.length > LINE_BYTES_MAX) throw notAnExport(path)
    onProgress(bytesRead, bytesTotal)
  }
  if (rest.length > 0) yield rest.toString('utf8')
}

const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).size
  } catch (error) {
    throw new Failure(
      'file.unreadable',
      `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

const notAnExport = (path: string): Failure =>
  new Failure('file.unreadable', `${path} has a line of more than ${LINE_BYTES_MAX} bytes`, {
    advice: 'An export to verify is written with "svc export events --format jsonl".',
  })
