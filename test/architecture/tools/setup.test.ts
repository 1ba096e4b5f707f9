import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

type Say = (text: string) => void

interface SetupTool {
  readonly nodeFaultOf: (version: string) => string | undefined
  readonly ensureInstalled: (root: string, say: Say) => Promise<string | undefined>
}

interface Build {
  readonly name: string
  readonly inputs: readonly string[]
  readonly output: string
  readonly commandFor: (folder: string) => readonly [string, readonly string[]]
}

interface BuildTool {
  readonly ensureBuilt: (root: string, say: Say, builds: readonly Build[]) => Promise<string | undefined>
}

const { nodeFaultOf, ensureInstalled } = (await import(
  new URL('../../../tools/setup.mjs', import.meta.url).href
)) as SetupTool
const { ensureBuilt } = (await import(new URL('../../../tools/build.mjs', import.meta.url).href)) as BuildTool

// Whatever npm must do here, it can do without a network, or must fail without trying one.
process.env['npm_config_offline'] = 'true'

let home: string
let said: string[]
const say = (text: string): void => {
  said.push(text)
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'setup-'))
  said = []
})

afterEach(() => {
  rmSync(home, { recursive: true })
})

describe('the version of Node', () => {
  it.each(['20.19.0', '20.20.2', '21.0.0', '24.1.0'])('may be %s', (version) => {
    expect(nodeFaultOf(version)).toBeUndefined()
  })

  it.each(['18.20.8', '20.18.3'])('is too old at %s', (version) => {
    expect(nodeFaultOf(version)).toContain(`needs Node 20.19 or newer, this is Node ${version}`)
  })
})

describe('installing', () => {
  const manifest = { name: 'small', version: '1.0.0' }
  const lockFile = { name: 'small', version: '1.0.0', lockfileVersion: 3, packages: { '': manifest } }
  const part = { name: 'part', version: '1.0.0' }

  it('happens once, and again when the packages change', async () => {
    put('package.json', manifest)
    put('package-lock.json', lockFile)
    expect(await ensureInstalled(home, say)).toBeUndefined()
    expect(await ensureInstalled(home, say)).toBeUndefined()
    expect(said).toEqual(['installing packages (npm ci)'])

    put('package.json', { ...manifest, description: 'changed' })
    expect(await ensureInstalled(home, say)).toBeUndefined()
    expect(said).toHaveLength(2)
  })

  it('happens once when two ask at the same time', async () => {
    put('package.json', manifest)
    put('package-lock.json', lockFile)
    await Promise.all([ensureInstalled(home, say), ensureInstalled(home, say)])
    expect(said.filter((text) => text.startsWith('installing'))).toHaveLength(1)
  })

  it('is not needed after an install by hand', async () => {
    installedByHand({ version: '1.0.0' })
    expect(await ensureInstalled(home, say)).toBeUndefined()
    expect(said).toEqual([])
  })

  it('is needed when npm installed another version', async () => {
    installedByHand({ version: '0.9.0' })
    await ensureInstalled(home, say)
    expect(said).toEqual(['installing packages (npm ci)'])
  })

  it('is needed when a folder is gone', async () => {
    installedByHand({ version: '1.0.0' })
    rmSync(join(home, 'node_modules/part'), { recursive: true })
    await ensureInstalled(home, say)
    expect(said).toEqual(['installing packages (npm ci)'])
  })

  it('tells what npm said when it failed, and is tried again', async () => {
    put('package.json', manifest)
    const failure = await ensureInstalled(home, say)
    expect(failure).toContain('npm ci failed with exit code 1')
    expect(failure).toContain('existing package-lock.json')
    put('package-lock.json', lockFile)
    expect(await ensureInstalled(home, say)).toBeUndefined()
  })

  const installedByHand = ({ version }: { readonly version: string }): void => {
    const dependencies = { part: '1.0.0' }
    const packages = { '': { ...manifest, dependencies }, 'node_modules/part': part }
    put('package.json', { ...manifest, dependencies })
    put('package-lock.json', { ...lockFile, packages })
    mkdirSync(join(home, 'node_modules/part'), { recursive: true })
    put('node_modules/part/package.json', { ...part, version })
    put('node_modules/.package-lock.json', { packages: { 'node_modules/part': { ...part, version } } })
  }
})

describe('building', () => {
  const copy: Build = {
    name: 'copy',
    inputs: ['src'],
    output: 'dist',
    commandFor: (folder) => [process.execPath, ['-e', `fs.cpSync('src', '${folder}', { recursive: true })`]],
  }
  const broken: Build = {
    ...copy,
    commandFor: (folder) => [
      process.execPath,
      ['-e', `fs.mkdirSync('${folder}'); console.log('half way'); process.exit(1)`],
    ],
  }

  beforeEach(() => {
    mkdirSync(join(home, 'src'))
    put('src/one.txt', 1)
  })

  it('happens once, and again when a name or a byte changes', async () => {
    await ensureBuilt(home, say, [copy])
    await ensureBuilt(home, say, [copy])
    expect(said).toEqual(['building the copy'])
    put('src/one.txt', 2)
    await ensureBuilt(home, say, [copy])
    expect(readFileSync(join(home, 'dist/one.txt'), 'utf8')).toBe('2')
    expect(said).toHaveLength(2)
  })

  it('leaves nothing of what was built before', async () => {
    await ensureBuilt(home, say, [copy])
    rmSync(join(home, 'src/one.txt'))
    put('src/two.txt', 2)
    await ensureBuilt(home, say, [copy])
    expect(existsSync(join(home, 'dist/one.txt'))).toBe(false)
    expect(existsSync(join(home, 'dist/two.txt'))).toBe(true)
  })

  it('keeps the last good build when it fails, and is tried again', async () => {
    await ensureBuilt(home, say, [copy])
    put('src/one.txt', 2)
    expect(await ensureBuilt(home, say, [broken])).toBe('half way\n')
    expect(readFileSync(join(home, 'dist/one.txt'), 'utf8')).toBe('1')
    expect(await ensureBuilt(home, say, [copy])).toBeUndefined()
    expect(readFileSync(join(home, 'dist/one.txt'), 'utf8')).toBe('2')
  })

  it('happens once when two ask at the same time', async () => {
    await Promise.all([ensureBuilt(home, say, [copy]), ensureBuilt(home, say, [copy])])
    expect(said.filter((text) => text.startsWith('building'))).toHaveLength(1)
  })
})

const put = (file: string, content: unknown): void => {
  writeFileSync(join(home, file), JSON.stringify(content))
}
