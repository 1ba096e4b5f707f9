import { createReadStream } from 'node:fs'
import { UsageError } from './failure.ts'

/** All of a small text file, or of a pipe that is named like one. */
export const readTextFile = async (path: string, bytesMax: number): Promise<string> => {
  const bytes = await bytesOf(path, bytesMax)
  if (bytes.length > bytesMax) throw new UsageError(`${path} is larger than ${bytesMax} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // The only thing that can be wrong with bytes.
    throw new UsageError(`${path} is no text in UTF-8`)
  }
}

/** At most one byte more than allowed. */
const bytesOf = async (path: string, bytesMax: number): Promise<Buffer> => {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of createReadStream(path, { end: bytesMax }) as AsyncIterable<Buffer>) {
      chunks.push(chunk)
    }
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return Buffer.concat(chunks)
}
