import { mkdir, realpath, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Document, isAlias, isCollection, isMap, parse, parseDocument, stringify, visit } from 'yaml'
import { isJsonObject } from '../../../core/shared/json-object.ts'
import { type KeyPath, leavesOf, sameValue, valueAt } from '../../../core/config/values.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { ConfigurationFileError } from '../../../ports/config-file.ts'
import { createWhole, orNull, readTextFile, syncFolderOf, withDraft } from '../../files.ts'
import { userSettingsPath } from './sources.ts'

const HEADER = `# Settings of this installation: what differs from config/default.yaml and the preset.
# Secrets may be among them, so only the owner can read this file.
`

/** The text of the file with these values. Comments and order are kept where possible. */
export const userSettingsText = (currentText: string | null, values: JsonObject): string => {
  if (currentText === null) return freshText(values)
  const edited = editedText(parseDocument(currentText), values)
  return edited !== null && hasValues(edited, values) ? edited : freshText(values)
}

const freshText = (values: JsonObject): string =>
  Object.keys(values).length === 0 ? HEADER : `${HEADER}${stringify(values, { lineWidth: 0 })}`

const hasValues = (text: string, values: JsonObject): boolean => {
  const read: unknown = parse(text)
  return isJsonObject(read) && sameValue(read, values)
}

/** Null when an edit in place could break the file. */
const editedText = (document: Document, values: JsonObject): string | null => {
  if (hasAliases(document)) return null
  if (document.contents === null || !isMap(document.contents)) document.contents = document.createNode({})
  const current: unknown = document.toJS()
  if (!isJsonObject(current)) return null
  for (const { path, value } of leavesOf(values)) {
    if (!sameValue(valueAt(current, path), value)) set(document, path, value)
  }
  // Removed after the new values are set: a group that holds a new value keeps its comments.
  for (const { path } of leavesOf(current)) {
    if (valueAt(values, path) === undefined) remove(document, path)
  }
  if (Object.keys(values).length === 0) return null
  return document.toString({ lineWidth: 0 })
}

/** Sets a value. A scalar where a group is needed is replaced by an empty group. */
const set = (document: Document, path: KeyPath, value: Json): void => {
  path.slice(0, -1).forEach((_, index) => {
    const above = path.slice(0, index + 1)
    const node = document.getIn(above, true)
    if (node !== undefined && !isMap(node)) document.setIn(above, document.createNode({}))
  })
  document.setIn(path, value)
}

/** Removes a value, and groups that become empty. */
const remove = (document: Document, path: KeyPath): void => {
  if (path.length === 0 || !document.hasIn(path)) return
  document.deleteIn(path)
  const parent = document.getIn(path.slice(0, -1))
  if (isCollection(parent) && parent.items.length === 0) remove(document, path.slice(0, -1))
}

const hasAliases = (document: Document): boolean => {
  let found = false
  visit(document, (_, node) => {
    if (!isAlias(node)) return undefined
    found = true
    return visit.BREAK
  })
  return found
}

export interface CreatedUserSettings {
  readonly status: 'created' | 'exists'
  readonly path: string
}

/**
 * Creates `config/user.yaml` on the first run. If several processes try, one creates it. An existing file stays as it
 * is.
 */
export const createUserSettings = async (home: string, values: JsonObject): Promise<CreatedUserSettings> => {
  const path = userSettingsPath(home)
  return { status: await createFile(path, userSettingsText(null, values)), path }
}

/** Creates the file with its whole text, or leaves an existing one. */
export const createFile = async (path: string, text: string): Promise<'created' | 'exists'> =>
  reporting(path, async () => {
    await mkdir(dirname(path), { recursive: true })
    return (await createWhole(path, text)) ? 'created' : 'exists'
  })

/**
 * Replaces the file in one step: a reader or a crash sees the old text or the new one, never a part.
 * Returns `moved` and writes nothing when the file no longer holds `expected` (null = no file).
 */
export const replaceFile = async (
  path: string,
  text: string,
  expected: string | null,
): Promise<'written' | 'moved'> =>
  reporting(path, async () => {
    // Resolves links. Replacing the link would disconnect it from the real file.
    const target = (await orNull('ENOENT', realpath(path))) ?? path
    await mkdir(dirname(target), { recursive: true })
    return withDraft(target, text, async (draft) => {
      if ((await readTextFile(target)) !== expected) return 'moved'
      await rename(draft, target)
      await syncFolderOf(target)
      return 'written'
    })
  })

const reporting = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigurationFileError(`${path} could not be written (${code ?? message})`, { cause: error })
  }
}
