import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join, sep } from 'node:path'
import { STRATEGY_NAME, STRATEGY_NAME_RULE } from '../../../core/shared/strategy-name.ts'
import { orNull } from '../../files.ts'

export interface OwnFile {
  readonly name: string
  readonly path: string
  /** Error found before the file is read; null if there is none. */
  readonly fault: string | null
}

const CODE = ['.ts', '.mts', '.js', '.mjs']
const SETTINGS = ['.yaml', '.yml', '.json']

/** The user's files in a folder of the home, by name. Skips tests, declarations and settings of editors. */
export const findOwnFiles = async (folder: string): Promise<readonly OwnFile[]> => {
  const entries = (await orNull('ENOENT', readdir(folder, { withFileTypes: true }))) ?? []
  const files = entries
    .filter((entry) => !entry.isDirectory() && isMeant(entry.name))
    .map(({ name: file }) => ({ name: basename(file, extname(file)), path: join(folder, file) }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return files.map(({ name, path }) => ({ name, path, fault: faultOf(name, path, files) }))
}

/** The folder and the files in it that others than their owner may write to: what these write, the service runs. */
export const writableByOthers = async (folder: string): Promise<readonly string[]> => {
  const inside = (await orNull('ENOENT', readdir(folder, { recursive: true }))) ?? []
  const files = inside.filter((file) => !file.split(sep).includes('node_modules'))
  const open: string[] = []
  for (const path of [folder, ...files.map((file) => join(folder, file))]) {
    const found = await orNull('ENOENT', stat(path))
    // Windows has other rights than these.
    if (found !== null && process.platform !== 'win32' && (found.mode & GROUP_OR_OTHERS_WRITE) !== 0)
      open.push(path)
  }
  return open
}

const GROUP_OR_OTHERS_WRITE = 0o022

export const isCode = ({ path }: Pick<OwnFile, 'path'>): boolean => CODE.includes(extname(path))

const isMeant = (file: string): boolean =>
  !file.startsWith('.') &&
  !file.startsWith('_') &&
  !/\.(test|spec|d)\.[cm]?[tj]s$/.test(file) &&
  !IGNORED.has(file) &&
  [...CODE, ...SETTINGS].includes(extname(file))

const IGNORED: ReadonlySet<string> = new Set(['package.json', 'package-lock.json', 'tsconfig.json'])

const faultOf = (
  name: string,
  path: string,
  files: readonly { readonly name: string; readonly path: string }[],
): string | null => {
  if (!STRATEGY_NAME.test(name)) return `the name of its file ${STRATEGY_NAME_RULE}`
  const others = files.filter((file) => file.name === name && file.path !== path)
  return others.length === 0
    ? null
    : `there are several files of this name: ${others.map((file) => basename(file.path)).join(', ')}`
}
