import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

type Versions = Readonly<Record<string, string>>

interface Manifest {
  readonly dependencies: Versions
  readonly devDependencies: Versions
  readonly peerDependencies: Versions
  readonly overrides: Versions
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly integrity?: string; readonly funding?: unknown }>>
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

describe('.npmrc', () => {
  it.each(['omit-lockfile-registry-resolved=true', 'save-exact=true'])('says %s', (line) => {
    expect(read('.npmrc').split('\n')).toContain(line)
  })

  it('names no registry and holds no key', () => {
    expect(read('.npmrc')).not.toMatch(/registry=|:\/\/|_auth|_password/)
  })
})
