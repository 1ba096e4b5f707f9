import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Makes stack traces name the TypeScript lines. Node could do it (`process.setSourceMapsEnabled`), but reads the map of
 * every file that it loads, about a tenth of what a short command takes. Here a map is read when a stack names its file.
 */
export const nameSourceLines = () => {
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${sourceFrame(frame)}`)].join(
      '\n',
    )
}

const sourceFrame = (frame) => {
  const text = String(frame)
  const file = frame.getFileName()
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
  if (!file?.startsWith('file:') || line === null || column === null) return text
  const { originalSource, originalLine, originalColumn } = mapOf(file)?.findEntry(line - 1, column - 1) ?? {}
  if (originalSource === undefined) return text
  const source = fileURLToPath(new URL(originalSource, file))
  return text.replace(`${file}:${line}:${column}`, `${source}:${originalLine + 1}:${originalColumn + 1}`)
}

const maps = new Map()

const mapOf = (file) => {
  if (!maps.has(file)) maps.set(file, readMap(fileURLToPath(`${file}.map`)))
  return maps.get(file)
}

/** A map that is damaged costs the lines, not the error. */
const readMap = (path) => {
  try {
    return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : null
  } catch {
    return null
  }
}
