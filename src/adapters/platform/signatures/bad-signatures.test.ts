import { describe, expect, it } from 'vitest'
import { ed25519 } from '../crypto/ed25519.ts'
import { badSignaturesIn } from './bad-signatures.ts'

const MESSAGE = '{"level":2,"prev_level":0,"reason":"daily_loss","triggered_by":"risk_monitor"}'
const SIGNATURE =
  'db1c806067734ef81ea84286e5b214b40297af8991a69b193224088792e5cda9590c88375bf2c4c16b672ebabe30481c805f8c368b5d9769ada2bbfe9cb9ea00'
const PUBLIC_KEY = ed25519.publicKeyOf(Buffer.alloc(32, 1)).toString('hex')
const OTHER_KEY = ed25519.publicKeyOf(Buffer.alloc(32, 2)).toString('hex')

const isGood = (text: string, signatureHex: string, publicKeyHex: string): boolean =>
  badSignaturesIn([{ text, signatureHex, publicKeyHex }]).length === 0

describe('verification of one signature', () => {
  it('holds the vector of the contract', () => {
    expect(isGood(MESSAGE, SIGNATURE, PUBLIC_KEY)).toBe(true)
  })

  it.each([
    ['another text', `${MESSAGE} `, SIGNATURE, PUBLIC_KEY],
    ['another key', MESSAGE, SIGNATURE, OTHER_KEY],
    ['a cut signature', MESSAGE, SIGNATURE.slice(2), PUBLIC_KEY],
    ['no signature', MESSAGE, '', PUBLIC_KEY],
    ['upper-case hex', MESSAGE, SIGNATURE.toUpperCase(), PUBLIC_KEY],
    ['a cut key', MESSAGE, SIGNATURE, PUBLIC_KEY.slice(2)],
    ['a key that is no hex', MESSAGE, SIGNATURE, 'zz'.repeat(32)],
  ])('refuses %s', (_name, text, signature, key) => {
    expect(isGood(text, signature, key)).toBe(false)
  })

  it('refuses a text that UTF-8 cannot hold', () => {
    const signature = Buffer.alloc(64)
    ed25519.signerOf(Buffer.alloc(32, 1))('\ufffd', signature)
    expect(isGood('\ufffd', signature.toString('hex'), PUBLIC_KEY)).toBe(true)
    expect(isGood('\ud800', signature.toString('hex'), PUBLIC_KEY)).toBe(false)
  })
})
