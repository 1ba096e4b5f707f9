import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ed25519 } from './ed25519-backend.ts'
import { nodeEd25519 } from './ed25519-node.ts'
import { loadSodiumEd25519 } from './ed25519-sodium.ts'
import { ed25519 } from './ed25519.ts'

const sodiumEd25519 = await loadSodiumEd25519()
const backends = [nodeEd25519, ...(sodiumEd25519 === null ? [] : [sodiumEd25519])]

const SEED = Buffer.alloc(32, 1)
const PUBLIC_KEY = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c'
const MESSAGE = '{"level":2,"prev_level":0,"reason":"daily_loss","triggered_by":"risk_monitor"}'
const SIGNATURE =
  'db1c806067734ef81ea84286e5b214b40297af8991a69b193224088792e5cda9590c88375bf2c4c16b672ebabe30481c805f8c368b5d9769ada2bbfe9cb9ea00'

const signWith = (backend: Ed25519, seed: Uint8Array, text: string): Buffer => {
  const signature = Buffer.alloc(64)
  backend.signerOf(seed)(text, signature)
  return signature
}

/** What the owner of a key could make with zero as its secret number: the equation holds, and libraries disagree. */
const withoutNonce = (seed: Buffer, publicKey: Buffer, text: string): Buffer => {
  const secret = createHash('sha512').update(seed).digest().subarray(0, 32)
  secret.writeUInt8(secret.readUInt8(0) & 0xf8, 0)
  secret.writeUInt8((secret.readUInt8(31) & 0x7f) | 0x40, 31)
  const identityPoint = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)])
  const challenge = createHash('sha512').update(identityPoint).update(publicKey).update(text).digest()
  const scalar = (littleEndian(challenge) * littleEndian(secret)) % GROUP_ORDER
  const digits = scalar.toString(16).padStart(64, '0')
  return Buffer.concat([identityPoint, Buffer.from(digits, 'hex').toReversed()])
}

const GROUP_ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n

const littleEndian = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)

it('signs with Node where libsodium does not load', () => {
  const hooks = `export const resolve = (name, context, next) => {
    if (name === 'sodium-native') throw new Error('not installed')
    return next(name, context)
  }`
  const code = `
    import { register } from 'node:module'
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})
    const { ed25519 } = await import(${JSON.stringify(new URL('./ed25519.ts', import.meta.url).href)})
    process.stdout.write(ed25519.backend)`
  const child = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    encoding: 'utf8',
  })
  expect(child).toMatchObject({ stdout: 'node:crypto', stderr: '' })
})

it('signs with libsodium where it loads, and verifies with the faster one', () => {
  expect(ed25519.backend).toBe(sodiumEd25519?.backend ?? 'node:crypto')
  const doesNodeVerify = sodiumEd25519 === null || process.arch !== 'x64'
  expect(ed25519.verify === nodeEd25519.verify).toBe(doesNodeVerify)
})

describe.each(backends.map((backend) => [backend.backend, backend] as const))('%s', (_name, backend) => {
  it('holds the vector of the contract', () => {
    expect(backend.publicKeyOf(SEED).toString('hex')).toBe(PUBLIC_KEY)
    expect(signWith(backend, SEED, MESSAGE).toString('hex')).toBe(SIGNATURE)
    expect(backend.verify(MESSAGE, Buffer.from(SIGNATURE, 'hex'), Buffer.from(PUBLIC_KEY, 'hex'))).toBe(true)
  })

  it('refuses another text, another key and a changed signature', () => {
    const signature = Buffer.from(SIGNATURE, 'hex')
    const publicKey = Buffer.from(PUBLIC_KEY, 'hex')
    expect(backend.verify(`${MESSAGE} `, signature, publicKey)).toBe(false)
    expect(backend.verify(MESSAGE, signature, backend.publicKeyOf(Buffer.alloc(32, 2)))).toBe(false)
    signature.writeUInt8(signature.readUInt8(40) ^ 1, 40)
    expect(backend.verify(MESSAGE, signature, publicKey)).toBe(false)
  })

  it('writes into memory shared between threads', () => {
    const shared = Buffer.from(new SharedArrayBuffer(128), 64, 64)
    backend.signerOf(SEED)(MESSAGE, shared)
    expect(shared.toString('hex')).toBe(SIGNATURE)
  })

  it('refuses keys under which one signature fits every text', () => {
    const identityPoint = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)])
    const fitsAll = Buffer.concat([identityPoint, Buffer.alloc(32)])
    const otherSign = Buffer.from(identityPoint)
    otherSign.writeUInt8(0x80, 31)
    expect(backend.verify('anything', fitsAll, identityPoint)).toBe(false)
    expect(backend.verify('anything', fitsAll, otherSign)).toBe(false)
  })

  it('refuses a signature whose first half says nothing', () => {
    const publicKey = backend.publicKeyOf(SEED)
    const signature = withoutNonce(SEED, publicKey, MESSAGE)
    expect(backend.verify(MESSAGE, signature, publicKey)).toBe(false)
  })

  it('verifies for more signers than it remembers', () => {
    for (let number = 0; number < 110; number += 1) {
      const seed = Buffer.alloc(32)
      seed.writeUInt32BE(number, 0)
      expect(backend.verify('x', signWith(backend, seed, 'x'), backend.publicKeyOf(seed))).toBe(true)
    }
  })
})

it('gives the same bytes whichever signs, and either verifies the other', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.string({ unit: 'grapheme' }),
      (seed, text) => {
        const expected = signWith(nodeEd25519, seed, text)
        for (const backend of backends) {
          expect(signWith(backend, seed, text)).toEqual(expected)
          expect(backend.publicKeyOf(seed)).toEqual(nodeEd25519.publicKeyOf(seed))
          expect(backend.verify(text, expected, backend.publicKeyOf(seed))).toBe(true)
        }
      },
    ),
  )
})

it('refuses whatever bytes stand for key and signature, whichever verifies', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const signature = fc.uint8Array({ minLength: 64, maxLength: 64 })
  fc.assert(
    fc.property(key, signature, (publicKey, bytes) => {
      for (const backend of backends) expect(backend.verify('x', bytes, publicKey)).toBe(false)
    }),
  )
})
