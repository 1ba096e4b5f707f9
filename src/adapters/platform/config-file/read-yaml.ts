import { open } from 'node:fs/promises'
import { type Document, isNode, LineCounter, parseDocument } from 'yaml'
import type { Layer } from '../../../core/config/layers.ts'
import { isJsonObject } from '../../../core/shared/json-object.ts'
import { type KeyPath } from '../../../core/config/values.ts'

export type YamlFile =
  | { readonly status: 'absent' }
  | { readonly status: 'read'; readonly text: string; readonly mode: number; readonly layer: Layer }
  /** One line per problem, with line and column where known. */
  | { readonly status: 'broken'; readonly problems: readonly string[] }

export const YAML_BYTES_MAX = 1024 * 1024
const ALIASES_MAX = 100

/** Reads one file of settings; `name` is used in messages. */
export const readYamlFile = async (path: string, name: string): Promise<YamlFile> => {
  const file = await readText(path)
  if (file === null) return { status: 'absent' }
  if (typeof file === 'string') return { status: 'broken', problems: [`${name}: ${file}`] }
  const parsed = parseLayer(file.text, name)
  return 'problems' in parsed ? { status: 'broken', ...parsed } : { status: 'read', ...file, layer: parsed }
}

/** Null when there is no file; a text says why it cannot be used. */
const readText = async (
  path: string,
): Promise<{ readonly text: string; readonly mode: number } | string | null> => {
  try {
    await using file = await open(path, 'r')
    const { size, mode } = await file.stat()
    if (size > YAML_BYTES_MAX) return `is larger than ${YAML_BYTES_MAX} bytes`
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { text: decoder.decode(await file.readFile()), mode }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8'
    return `cannot be read (${code ?? message})`
  }
}

const parseLayer = (text: string, name: string): Layer | { readonly problems: readonly string[] } => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  // An unknown tag is only a warning to the parser, but its value would be a guess.
  const errors = [...document.errors, ...document.warnings]
  if (errors.length > 0)
    return { problems: errors.map(({ pos, message }) => `${at(name, lines, pos[0])}: ${message}`) }
  let values: unknown
  try {
    values = document.toJS({ maxAliasCount: ALIASES_MAX }) ?? {}
  } catch (error) {
    // The library refuses to expand aliases that would multiply without end.
    return { problems: [`${name}: ${(error as Error).message}`] }
  }
  if (!isJsonObject(values))
    return { problems: [`${name}: must hold keys and values, not a single value or a list`] }
  return { values, whereIs: (path) => whereIs(document, lines, name, path) }
}

const whereIs = (document: Document, lines: LineCounter, name: string, path: KeyPath): string => {
  const node = document.getIn(path, true)
  const start = isNode(node) ? node.range?.[0] : undefined
  return start === undefined ? name : at(name, lines, start)
}

const at = (name: string, lines: LineCounter, offset: number): string => {
  const { line, col } = lines.linePos(offset)
  return `${name}:${line}:${col}`
}
