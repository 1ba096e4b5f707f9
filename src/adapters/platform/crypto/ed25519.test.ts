import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSignedBy, publicKeyOf, signerOf } from './ed25519.ts'

const SEED = Buffer.alloc(32, 1)
const PUBLIC_KEY = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c'
const MESSAGE = '{"level":2,"prev_level":0,"reason":"daily_loss","triggered_by":"risk_monitor"}'
const SIGNATURE =
  'db1c806067734ef81ea84286e5b214b40297af8991a69b193224088792e5cda9590c88375bf2c4c16b672ebabe30481c805f8c368b5d9769ada2bbfe9cb9ea00'

const GROUP_ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n
const IDENTITY_POINT = `01${'00'.repeat(31)}`

const hex = (digits: string): Buffer => Buffer.from(digits, 'hex')
const isSigned = (text: string, signature: string, publicKey: string): Promise<boolean> =>
  isSignedBy(Buffer.from(text), hex(signature), hex(publicKey))
const littleEndian = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
const scalarHex = (scalar: bigint): string =>
  hex(scalar.toString(16).padStart(64, '0')).reverse().toString('hex')

it('holds the vector of the contract', async () => {
  expect(publicKeyOf(SEED).toString('hex')).toBe(PUBLIC_KEY)
  expect(signerOf(SEED)(MESSAGE)).toBe(SIGNATURE)
  expect(await isSigned(MESSAGE, SIGNATURE, PUBLIC_KEY)).toBe(true)
})

it('accepts what it signed, for any key and text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.string({ unit: 'grapheme' }),
      async (seed, text) => {
        expect(await isSigned(text, signerOf(seed)(text), publicKeyOf(seed).toString('hex'))).toBe(true)
      },
    ),
  )
})

it('refuses another text, another key and a changed signature', async () => {
  const changed = hex(SIGNATURE)
  changed.writeUInt8(changed.readUInt8(40) ^ 1, 40)
  const other = publicKeyOf(Buffer.alloc(32, 2)).toString('hex')
  expect(await isSigned(`${MESSAGE} `, SIGNATURE, PUBLIC_KEY)).toBe(false)
  expect(await isSigned(MESSAGE, SIGNATURE, other)).toBe(false)
  expect(await isSigned(MESSAGE, changed.toString('hex'), PUBLIC_KEY)).toBe(false)
})

it('refuses random bytes as key and signature', async () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const signature = fc.uint8Array({ minLength: 64, maxLength: 64 })
  await fc.assert(
    fc.asyncProperty(key, signature, async (publicKey, bytes) => {
      expect(await isSignedBy(Buffer.from('x'), bytes, publicKey)).toBe(false)
    }),
  )
})

it('verifies for more signers than it keeps imported', async () => {
  for (let number = 0; number < 110; number += 1) {
    const seed = Buffer.alloc(32)
    seed.writeUInt32BE(number, 0)
    expect(await isSigned('x', signerOf(seed)('x'), publicKeyOf(seed).toString('hex'))).toBe(true)
  }
})

/** A signature with S + L satisfies the equation too; only the smaller S is allowed. */
it('refuses S beyond the order of the group', async () => {
  const larger = littleEndian(hex(SIGNATURE).subarray(32)) + GROUP_ORDER
  expect(await isSigned(MESSAGE, SIGNATURE.slice(0, 64) + scalarHex(larger), PUBLIC_KEY)).toBe(false)
})

it('refuses keys under which one signature fits every text, in any encoding', async () => {
  const fitsAll = IDENTITY_POINT + '00'.repeat(32)
  const withSign = `01${'00'.repeat(30)}80`
  const beyondField = `ee${'ff'.repeat(30)}7f`
  for (const key of [IDENTITY_POINT, withSign, beyondField]) {
    expect(await isSigned('anything', fitsAll, key)).toBe(false)
  }
})

it('refuses every encoding of a key beyond the field', async () => {
  for (let low = 0xed; low <= 0xff; low += 1) {
    for (const high of ['7f', 'ff']) {
      const key = low.toString(16) + 'ff'.repeat(30) + high
      expect(await isSigned(MESSAGE, SIGNATURE, key)).toBe(false)
    }
  }
})

/** Signature that the owner of a key could make with zero as the secret nonce. The equation holds. */
it('refuses a nonce of small order', async () => {
  const secret = createHash('sha512').update(SEED).digest().subarray(0, 32)
  secret.writeUInt8(secret.readUInt8(0) & 0xf8, 0)
  secret.writeUInt8((secret.readUInt8(31) & 0x7f) | 0x40, 31)
  const challenge = createHash('sha512')
    .update(hex(IDENTITY_POINT))
    .update(hex(PUBLIC_KEY))
    .update(MESSAGE)
    .digest()
  const scalar = (littleEndian(challenge) * littleEndian(secret)) % GROUP_ORDER
  expect(await isSigned(MESSAGE, IDENTITY_POINT + scalarHex(scalar), PUBLIC_KEY)).toBe(false)
})

/**
 * The twelve signatures on which libraries disagree: Chalkias, Garillot, Nikolaenko, "Taming the Many EdDSAs" (2020).
 * These answers define what a valid signature is here.
 */
describe('the cases of "Taming the Many EdDSAs"', () => {
  const SMALL = 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'
  const MIXED = 'f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43'
  const OTHER_MIXED = 'cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d'
  const SOUND = '442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623'
  const NON_CANONICAL = `ec${'ff'.repeat(31)}`
  const S = 'a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04'

  it.each([
    [
      'small key and nonce',
      false,
      '8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6',
      SMALL,
      `c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a${'00'.repeat(32)}`,
    ],
    [
      'small key',
      false,
      '9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79',
      SMALL,
      MIXED + S,
    ],
    [
      'small nonce',
      false,
      'aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab',
      MIXED,
      `${SMALL}8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e`,
    ],
    [
      'key and nonce of mixed order',
      true,
      '9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79',
      OTHER_MIXED,
      '9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009',
    ],
    [
      'valid only with the cofactor',
      false,
      'e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c',
      OTHER_MIXED,
      '160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed5125ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09',
    ],
    [
      'valid only with the cofactor, other order of reduction',
      false,
      'e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c',
      OTHER_MIXED,
      '21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405',
    ],
    [
      'S beyond the group',
      false,
      '85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40',
      SOUND,
      'e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514',
    ],
    [
      'S far beyond the group',
      false,
      '85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40',
      SOUND,
      '8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa19427e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22',
    ],
    [
      'nonce in a second encoding, hashed as its point',
      false,
      '9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41',
      MIXED,
      `${NON_CANONICAL}03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f`,
    ],
    [
      'nonce in a second encoding, hashed as it is',
      false,
      '9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41',
      MIXED,
      `${NON_CANONICAL}ca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908`,
    ],
    [
      'key in a second encoding, hashed as its point',
      false,
      'e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b',
      NON_CANONICAL,
      `a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc${S}`,
    ],
    [
      'key in a second encoding, hashed as it is',
      false,
      '39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f',
      NON_CANONICAL,
      `a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc${S}`,
    ],
  ])('%s: %s', async (_name, isValid, message, publicKey, signature) => {
    expect(await isSignedBy(hex(message), hex(signature), hex(publicKey))).toBe(isValid)
  })
})
