import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, it } from 'vitest'
import type { SignedText } from '../../../ports/signatures.ts'
import { signatures } from './signatures.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const publicKeyHex = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')

const signedText = (text: string): SignedText => ({
  text,
  signatureHex: sign(null, Buffer.from(text), privateKey).toString('hex'),
  publicKeyHex,
})
const MANY = Array.from({ length: 300 }, (_, number) => signedText(`{"number":${number},"word":"Größe"}`))
const withBad = (items: readonly SignedText[], bad: readonly number[]): readonly SignedText[] =>
  items.map((item, index) => (bad.includes(index) ? { ...item, text: `${item.text} ` } : item))

it('finds nothing in nothing', async () => {
  expect(await signatures.verifyAll([])).toEqual([])
})

it('finds the bad ones, in order', async () => {
  const bad = [0, 1, 63, 64, 127, 298, 299]
  expect(await signatures.verifyAll(withBad(MANY, bad))).toEqual(bad)
})

it('answers several callers at once', async () => {
  const answers = await Promise.all([3, 100, 201].map((bad) => signatures.verifyAll(withBad(MANY, [bad]))))
  expect(answers).toEqual([[3], [100], [201]])
})

it.each([
  ['a cut signature', { signatureHex: MANY[0]!.signatureHex.slice(2) }],
  ['no signature', { signatureHex: '' }],
  ['upper-case hex', { signatureHex: MANY[0]!.signatureHex.toUpperCase() }],
  ['a signature that is no hex', { signatureHex: 'zz'.repeat(64) }],
  ['another key', { publicKeyHex: '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c' }],
  ['a cut key', { publicKeyHex: '8a88' }],
  ['a key that is no hex', { publicKeyHex: 'zz'.repeat(32) }],
  ['another text', { text: '{}' }],
  ['a text that UTF-8 cannot hold', { text: '\ud800' }],
])('refuses %s', async (_, change) => {
  expect(await signatures.verifyAll([{ ...MANY[0]!, ...change }, MANY[1]!])).toEqual([0])
})

it('does not take a lone surrogate for the character that replaces it', async () => {
  const replaced = signedText('\ufffd')
  expect(await signatures.verifyAll([replaced, { ...replaced, text: '\ud800' }])).toEqual([1])
})
