import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MEGABYTE = 1024 * 1024
const INSTALLED_MB_MAX = 120

interface LockedPackage {
  readonly dev?: true
  readonly devOptional?: true
  readonly peer?: true
}

interface Manifest {
  readonly version: string
  readonly files: readonly string[]
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** Packages that `npm ci --omit=dev` installs on this machine, as paths from the root. */
const PRODUCTION = Object.entries(lock.packages)
  .filter(([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer)
  .map(([path]) => path)
  .filter((path) => existsSync(join(ROOT, path)))

let folder: string
let files: readonly string[]
let svc: string

/** Packs as `npm pack` does and installs the result as a user does, with the local packages instead of downloads. */
beforeAll(() => {
  if (!existsSync(join(ROOT, 'dist/cli.js'))) throw new Error('the service is not built: run npm run build')
  folder = mkdtempSync(join(tmpdir(), 'signal-engine-package-'))
  // Uses the existing build, which other tests need meanwhile. With the bundled packages npm would take half a minute.
  const unpacked = join(folder, 'unpacked')
  for (const name of [...manifest.files, 'README.md', 'LICENSE'])
    cpSync(join(ROOT, name), join(unpacked, name), { recursive: true })
  writeFileSync(join(unpacked, 'package.json'), JSON.stringify({ ...manifest, bundleDependencies: [] }))
  const packed = execFileSync('npm pack --json --ignore-scripts', ['--pack-destination', folder], {
    cwd: unpacked,
    encoding: 'utf8',
    shell: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [archive] = JSON.parse(packed) as readonly [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ]
  files = archive.files.map(({ path }) => path)
  execFileSync('tar', ['-xzf', archive.filename], { cwd: folder })
  svc = join(folder, 'package', 'bin', 'svc.js')
  // Nested packages are copied with the outer ones.
  for (const path of PRODUCTION.filter((name) => name.lastIndexOf('node_modules/') === 0)) {
    const target = join(folder, 'package', path)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(join(ROOT, path), target)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...words: readonly string[]) =>
  spawnSync(process.execPath, [svc, ...words], { cwd: folder, encoding: 'utf8' })

describe('the archive', () => {
  it('holds the build and what users read', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/source-lines.js',
        'bin/svc.js',
        'clients/python/signal_engine.py',
        'config/default.yaml',
        'dashboard/dist/index.html',
        'dist/cli.js',
        'dist/client/signal-engine.d.ts',
        'dist/client/signal-engine.js',
        'dist/main.js',
        'dist/openapi.json',
        'LICENSE',
        'README.md',
        'package.json',
      ]),
    )
  })

  it('holds no source and no test', () => {
    // Declarations are for users' strategies and for programs that use the client.
    expect(
      files.filter((path) =>
        /(?<!^dist\/(types|client)\/.*\.d)\.tsx?$|^(src|test|bench|tools)\/|\.(test|fixture|contract)\./.test(
          path,
        ),
      ),
    ).toEqual([])
  })
})

describe('an installation without development packages', () => {
  it(`takes at most ${INSTALLED_MB_MAX} MB`, () => {
    const own = bytesOnDisk(join(folder, 'package'))
    const outermost = PRODUCTION.filter((path) => path.lastIndexOf('node_modules/') === 0)
    const packages = outermost.reduce((sum, path) => sum + bytesOnDisk(join(ROOT, path)), 0)
    expect((own + packages) / MEGABYTE).toBeLessThanOrEqual(INSTALLED_MB_MAX)
  })

  it('tells its version', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })

  it('explains every command', () => {
    const { status, stdout } = run('--help')
    expect(status).toBe(0)
    expect(stdout).toMatch(/backtest[\s\S]+health[\s\S]+vault/)
  })

  it('is set up by the steps for production in the README', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const [, steps = ''] =
      /## Install it for production[^]*?npm install [^\n]+\n([^]*?)npx svc serve/.exec(readme) ?? []
    const home = join(folder, 'production')
    mkdirSync(home)
    const { SVC_MASTER_PASSWORD: _password, ...env } = process.env
    const npx = `npx() { shift; '${process.execPath}' '${svc}' "$@"; }`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', `set -e\n${npx}\n${steps}`], {
      cwd: home,
      env,
      input: 'correct horse battery staple\n',
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^Created +config, data, identity, config\/user\.yaml, identity\/identity\.json$/m)
    expect(stdout).toMatch(/^Operator token +[\w-]{43} \(shown once/m)
    expect(readFileSync(join(home, 'identity/identity.json'), 'utf8')).toContain('private_key_enc')
  })

  it('has a client that programs import as JavaScript', () => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(join(folder, 'package'), join(folder, 'node_modules/signal-engine'))
    const program = `
      import { SignalEngine, signingKey, submissionText } from 'signal-engine/client'
      const key = signingKey(Buffer.alloc(32, 1))
      console.log(typeof SignalEngine, key.publicKey, submissionText({ b: 1, a: 'x' }))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    expect(stdout).toBe(
      'function 8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c ' +
        'signal-engine/submission/v1\n{"a":"x","b":1}\n',
    )
  })

  it('serves, with dashboard and documentation, and ends in order although Ctrl-C comes twice', async () => {
    const words = ['--home', join(folder, 'home'), 'serve', '--port', '0', '--dashboard-port', '0', '--json']
    const child = spawn(process.execPath, [svc, ...words], {
      env: { ...process.env, SVC_API__AUTH_TOKEN: 'package-test-token-of-more-than-32-characters' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    const closed = once(child, 'close')
    const [first] = (await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), closed])) as [
      unknown,
    ]
    if (typeof first !== 'string') throw new Error(`the service ended:\n${output}`)
    const { listening, dashboard } = JSON.parse(first) as {
      readonly listening: string
      readonly dashboard: string
    }
    for (const url of [
      `${listening}/health`,
      new URL('/docs', listening),
      new URL('/openapi.json', listening),
      dashboard,
    ]) {
      expect((await fetch(url)).status, String(url)).toBe(200)
    }
    child.kill('SIGINT')
    child.kill('SIGINT')
    expect(await closed).toEqual([0, null])
  })

  /** Stack of the call that writes to standard output. */
  const stackOfOutput = (): string => {
    const preload = `data:text/javascript,process.stdout.write = () => { console.error(new Error('here').stack); process.exit() }`
    const { stderr } = spawnSync(process.execPath, ['--import', preload, svc, '--version'], {
      timeout: 30_000,
      encoding: 'utf8',
    })
    expect(stderr).toContain('Error: here')
    return stderr
  }

  it('names lines of TypeScript in stack traces', () => {
    const [, file = '', line = ''] = /(src\/surfaces\/cli\/[\w-]+\.ts):(\d+):\d+/.exec(stackOfOutput()) ?? []
    expect(readFileSync(join(ROOT, file), 'utf8').split('\n')[Number(line) - 1]).toContain('write(')
  })

  it('names lines of the build where its maps are damaged or gone', () => {
    const dist = join(folder, 'package', 'dist')
    const maps = readdirSync(dist).filter((name) => name.endsWith('.js.map'))
    expect(maps).not.toEqual([])
    for (const name of maps) writeFileSync(join(dist, name), '{"version":3')
    expect(stackOfOutput()).toMatch(/\/dist\/[\w-]+\.js:\d+:\d+/)
    for (const name of maps) rmSync(join(dist, name))
    expect(stackOfOutput()).toMatch(/\/dist\/[\w-]+\.js:\d+:\d+/)
  })
})

describe('npm start', () => {
  it('stops the service in order when npm is told to stop', async () => {
    const env = {
      ...process.env,
      SVC_HOME: join(folder, 'started'),
      SVC_API__PORT: '0',
      SVC_DASHBOARD__PORT: '0',
    }
    const npm = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    npm.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    // The output closes when the last process that writes to it has ended.
    const closed = once(npm, 'close')
    let url = ''
    try {
      await expect.poll(() => output).toContain('Ctrl-C')
      url = /^listening on (\S+)$/m.exec(output)?.[1] ?? ''
      expect((await fetch(`${url}/health`)).status).toBe(200)
    } finally {
      npm.kill('SIGTERM')
      await closed
    }
    await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed')
  })
})

describe('a checkout that is not built', () => {
  it('says what to do', () => {
    const bare = join(folder, 'bare')
    cpSync(join(ROOT, 'bin'), join(bare, 'bin'), { recursive: true })
    cpSync(join(ROOT, 'package.json'), join(bare, 'package.json'))
    const { status, stderr } = spawnSync(process.execPath, [join(bare, 'bin/svc.js'), 'up'], {
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr).toMatch(/not built.*"npm ci" and "npm run build".*"npm pack"/)
  })
})

/** Size in whole blocks without links, as `du` counts it. `recursive` follows links from Node 22 on. */
const bytesOnDisk = (path: string): number =>
  readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const inside = join(path, entry.name)
    if (entry.isDirectory()) return sum + bytesOnDisk(inside)
    return entry.isFile() ? sum + statSync(inside).blocks * 512 : sum
  }, 0)
