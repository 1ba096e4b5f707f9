import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

interface Build {
  readonly inputs: readonly string[]
  readonly output: string
  readonly argsFor: (folder: string) => readonly string[]
}

interface SetupTool {
  readonly ensureInstalled: (root: string, say: (text: string) => void) => Promise<void>
  readonly ensureBuilt: (root: string, say: (text: string) => void, builds: readonly Build[]) => Promise<void>
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TOOLS = new URL('../../tools/', import.meta.url)
const { ensureInstalled, ensureBuilt } = (await import(new URL('setup.mjs', TOOLS).href)) as SetupTool

let home: string
let said: string[]
/** Progress depends on the speed of the machine and is left out. */
const say = (text: string): void => {
  if (!/: \d+ s$/.test(text)) said.push(text)
}
const put = (file: string, content: unknown): void => writeFileSync(join(home, file), JSON.stringify(content))

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tools-'))
  said = []
})

afterEach(() => rmSync(home, { recursive: true }))

describe('installing', () => {
  const manifest = { name: 'small', version: '1.0.0', dependencies: { part: '1.0.0' } }
  const part = { name: 'part', version: '1.0.0' }
  const other = { name: 'other-platform', version: '1.0.0', optional: true }

  const installed = (version: string): void => {
    const packages = { '': manifest, 'node_modules/part': part, 'node_modules/other-platform': other }
    put('package.json', manifest)
    put('package-lock.json', { ...part, lockfileVersion: 3, packages })
    mkdirSync(join(home, 'node_modules/part'), { recursive: true })
    put('node_modules/.package-lock.json', { packages: { 'node_modules/part': { ...part, version } } })
  }

  it('is not needed where npm has installed what the lock file names', async () => {
    installed('1.0.0')
    await ensureInstalled(home, say)
    expect(said).toEqual([])
  })

  it.each([
    ['another version is there', () => installed('0.9.0')],
    [
      'a folder is gone',
      () => {
        installed('1.0.0')
        rmSync(join(home, 'node_modules/part'), { recursive: true })
      },
    ],
    ['nothing is there', () => put('package.json', manifest)],
  ])('is needed when %s, and a failure shows what npm said', async (_name, given) => {
    given()
    // Whatever npm must do here fails without a network.
    process.env['npm_config_offline'] = 'true'
    await expect(ensureInstalled(home, say)).rejects.toThrow(/npm ci .*failed\n.*npm error/s)
    delete process.env['npm_config_offline']
    expect(said).toEqual(['installing packages (npm ci)'])
  })
})

describe('building', () => {
  const copy: Build = {
    inputs: ['src', 'missing'],
    output: 'dist',
    argsFor: (folder) => ['-e', `fs.cpSync('src', '${folder}', { recursive: true })`],
  }
  const broken: Build = {
    ...copy,
    argsFor: (folder) => ['-e', `fs.mkdirSync('${folder}'); console.log('half way'); process.exit(1)`],
  }
  const builtText = (name: string): string => readFileSync(join(home, 'dist', name), 'utf8')

  beforeEach(() => {
    mkdirSync(join(home, 'src'))
    put('src/one.txt', 1)
  })

  it('happens once, and again when a byte changes', async () => {
    await ensureBuilt(home, say, [copy])
    await ensureBuilt(home, say, [copy])
    expect(said).toEqual(['building dist', expect.stringMatching(/^building dist: done in \d+ s$/)])
    put('src/one.txt', 2)
    await ensureBuilt(home, say, [copy])
    expect(builtText('one.txt')).toBe('2')
    expect(said).toHaveLength(4)
  })

  it('leaves nothing of what was built before', async () => {
    await ensureBuilt(home, say, [copy])
    rmSync(join(home, 'src/one.txt'))
    put('src/two.txt', 2)
    await ensureBuilt(home, say, [copy])
    expect(existsSync(join(home, 'dist/one.txt'))).toBe(false)
    expect(builtText('two.txt')).toBe('2')
    expect(readdirSync(home).toSorted()).toEqual(['dist', 'src'])
  })

  it('keeps the last good build when it fails, and is tried again', async () => {
    await ensureBuilt(home, say, [copy])
    put('src/one.txt', 2)
    await expect(ensureBuilt(home, say, [broken])).rejects.toThrow('half way')
    expect(builtText('one.txt')).toBe('1')
    await ensureBuilt(home, say, [copy])
    expect(builtText('one.txt')).toBe('2')
  })
})

describe('the runner', () => {
  it('names its commands', () => {
    const { status, stderr } = spawnSync(process.execPath, ['tools/run.mjs', 'dance'], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toContain('usage: node tools/run.mjs bench|build|check|fuzz|mutants|simulate|start|test')
  })
})

describe('the counts of a test run', () => {
  /** Files of every kind: what is in them, and what each adds to passed, failed and skipped. */
  const FILES: Readonly<Record<string, readonly [code: string, counts: readonly [number, number, number]]>> =
    {
      mixed: [`it('a', () => {}); it('b', () => { throw 1 }); it.skip('c'); it.todo('d')`, [1, 1, 2]],
      'does-not-load': [`import './nowhere.js'; it('a', () => {})`, [0, 1, 0]],
      'without-tests': [``, [0, 1, 0]],
      'fails-before': [`describe('d', () => { beforeAll(() => { throw 1 }); it('a', () => {}) })`, [0, 1, 1]],
      'fails-after': [`describe('d', () => { afterAll(() => { throw 1 }); it('a', () => {}) })`, [1, 1, 0]],
      'not-caught': [
        `it('a', async () => { Promise.reject(new Error()); await new Promise(setImmediate) })`,
        [1, 1, 0],
      ],
      dies: [`it('a', () => process.kill(process.pid, 'SIGKILL'))`, [0, 1, 1]],
    }

  const countsOf = (...args: readonly string[]): unknown => {
    symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'))
    for (const [name, [code]] of Object.entries(FILES)) {
      const imports = `import { afterAll, beforeAll, describe, it } from 'vitest'\n`
      writeFileSync(join(home, `${name}.test.js`), imports + code)
    }
    const code = `
      import { runTests } from ${JSON.stringify(new URL('tests.mjs', TOOLS).href)}
      const counts = await runTests(${JSON.stringify(args)})
      process.stdout.write('\\n' + JSON.stringify(counts))
      process.exit(0)`
    writeFileSync(join(home, 'count.mjs'), code)
    // The variables of the run that this test is part of are not for the run inside.
    const env = { ...process.env, VITEST: undefined }
    const output = execFileSync(process.execPath, [join(home, 'count.mjs')], {
      cwd: home,
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return JSON.parse(output.split('\n').at(-1) ?? '')
  }

  it('hold also what fails outside of a test', () => {
    const sum = (index: 0 | 1 | 2): number =>
      Object.values(FILES).reduce((total, [, counts]) => total + counts[index], 0)
    expect(countsOf()).toEqual({ passed: sum(0), failed: sum(1), skipped: sum(2) })
  })

  it('do not call a run good that found nothing to run', () => {
    expect(countsOf('nowhere')).toEqual({ passed: 0, failed: 1, skipped: 0 })
  })
})
