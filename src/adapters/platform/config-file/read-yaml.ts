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
  switch (file.status) {
    case 'absent':
      return file
    case 'unreadable':
      return { status: 'broken', problems: [`${name}: ${file.reason}`] }
    case 'read': {
      const parsed = parseLayer(file.text, name)
      return parsed.status === 'broken' ? parsed : { ...parsed, text: file.text, mode: file.mode }
    }
  }
}

type TextFile =
  | { readonly status: 'absent' }
  | { readonly status: 'read'; readonly text: string; readonly mode: number }
  | { readonly status: 'unreadable'; readonly reason: string }

const readText = async (path: string): Promise<TextFile> => {
  try {
    await using file = await open(path, 'r')
    const { size, mode } = await file.stat()
    if (size > YAML_BYTES_MAX)
      return { status: 'unreadable', reason: `is larger than ${YAML_BYTES_MAX} bytes` }
    const bytes = await file.readFile()
    return {
      status: 'read',
      mode,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { status: 'absent' }
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { status: 'unreadable', reason: 'is not UTF-8' }
    return { status: 'unreadable', reason: `cannot be read (${code ?? message})` }
  }
}

type ParsedLayer =
  | { readonly status: 'read'; readonly layer: Layer }
  | { readonly status: 'broken'; readonly problems: readonly string[] }

const parseLayer = (text: string, name: string): ParsedLayer => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  // An unknown tag is only a warning to the parser, but its value would be a guess.
  const errors = [...document.errors, ...document.warnings]
  if (errors.length > 0) {
    return {
      status: 'broken',
      problems: errors.map(({ pos, message }) => `${at(name, lines, pos[0])}: ${message}`),
    }
  }
  const content = contentOf(document)
  if (content.status === 'refused') return { status: 'broken', problems: [`${name}: ${content.reason}`] }
  if (!isJsonObject(content.values)) {
    return {
      status: 'broken',
      problems: [`${name}: must hold keys and values, not a single value or a list`],
    }
  }
  return {
    status: 'read',
    layer: { values: content.values, whereIs: (path) => whereIs(document, lines, name, path) },
  }
}

type Content =
  | { readonly status: 'built'; readonly values: unknown }
  | { readonly status: 'refused'; readonly reason: string }

const contentOf = (document: Document): Content => {
  try {
    const values: unknown = document.toJS({ maxAliasCount: ALIASES_MAX })
    return { status: 'built', values: values ?? {} }
  } catch (error) {
    // The library refuses to expand aliases that would multiply without end.
    return { status: 'refused', reason: (error as Error).message }
  }
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
