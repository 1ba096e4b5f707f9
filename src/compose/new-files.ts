import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importOwn } from '../adapters/strategies/files/load-definition.ts'
import {
  writeEditorSettings,
  writeOwnFiles,
  type OwnFileKind,
} from '../adapters/strategies/files/templates.ts'
import { isBuiltin } from '../core/signals/producers.ts'
import { reservedNameFault } from '../core/strategies/built-in.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { producersFolder, strategiesFolder } from './strategies.ts'

export const createOwnFiles = async (
  home: string,
  name: string,
  kind: OwnFileKind,
): Promise<readonly string[]> => {
  const folder = kind === 'producer' ? producersFolder(home) : strategiesFolder(home)
  const reserved = kind === 'producer' ? null : reservedNameFault(name)
  if (reserved !== null) throw new Failure('strategy.failed', reserved, { advice: 'Choose another name.' })
  if (kind === 'producer' && isBuiltin(name))
    throw new Failure('strategy.failed', `${name} is the name of a built-in producer`)
  const result = await writeOwnFiles(folder, name, kind)
  if (result.status === 'refused') throw new Failure('file.exists', result.reason)
  if (kind !== 'python') await writeEditorSettings(folder, typePaths())
  return result.files
}

/** Paths of the types that a file imports. In a build they are beside the code. */
const typePaths = (): Readonly<Record<string, string>> => {
  const { resolve } = createRequire(import.meta.url)
  const isBuilt = !import.meta.url.endsWith('.ts')
  const ours = (name: string): string =>
    fileURLToPath(
      new URL(
        isBuilt ? `types/adapters/strategies/files/${name}.d.ts` : `../adapters/strategies/files/${name}.ts`,
        import.meta.url,
      ),
    )
  return {
    'signal-engine/strategy': ours('strategy-module'),
    'signal-engine/producer': ours('producer-module'),
    'trading-signals': join(dirname(resolve('trading-signals')), 'index.d.ts'),
    zod: join(dirname(resolve('zod')), 'index.d.ts'),
  }
}

/** Loads the test files, which starts Node's test runner. */
export const testStrategies = async (home: string, name: string | null): Promise<void> => {
  const folder = strategiesFolder(home)
  const files = await readdir(folder).catch(() => [])
  const tests = files.filter((file) =>
    (name === null ? TEST : new RegExp(`^${name}\\.test\\.[cm]?[tj]s$`)).test(file),
  )
  if (tests.length === 0) {
    const what = name === null ? 'no test' : `no test of ${name}`
    throw new Failure('strategy.not_found', `there is ${what} in ${folder}`, {
      advice: 'svc new strategy NAME writes a strategy with its test.',
    })
  }
  for (const file of tests.toSorted()) await importOwn(join(folder, file))
}

const TEST = /\.test\.[cm]?[tj]s$/
