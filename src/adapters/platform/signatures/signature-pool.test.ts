import { generateKeyPairSync, sign } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { Signatures, SignedText } from '../../../ports/signatures.ts'
import { signaturePool } from './signature-pool.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const publicKeyHex = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')

const signedText = (number: number): SignedText => {
  const text = `{"number":${number},"word":"Größe"}`
  return { text, signatureHex: sign(null, Buffer.from(text), privateKey).toString('hex'), publicKeyHex }
}
const MANY = Array.from({ length: 1500 }, (_, index) => signedText(index))
const withBad = (items: readonly SignedText[], bad: readonly number[]): readonly SignedText[] =>
  items.map((item, index) => (bad.includes(index) ? { ...item, text: `${item.text} ` } : item))

const lost: Error[] = []
const pools: Signatures[] = []
const pool = (threads?: number): Signatures => {
  const made = signaturePool({
    ...(threads === undefined ? {} : { threads }),
    onThreadLost: (error) => lost.push(error),
  })
  pools.push(made)
  return made
}
afterEach(async () => {
  await Promise.all(pools.splice(0).map((made) => made.close()))
})

describe('signature pool', () => {
  it('finds nothing in nothing', async () => {
    expect(await pool().verifyAll([])).toEqual([])
  })

  it.each([{ threads: 0 }, { threads: 1 }, { threads: 3 }])(
    'finds the bad ones with $threads threads',
    async ({ threads }) => {
      const bad = [0, 1, 63, 64, 700, 1498, 1499]
      expect(await pool(threads).verifyAll(withBad(MANY, bad))).toEqual(bad)
      expect(lost).toEqual([])
    },
  )

  it('checks small batches without a thread', async () => {
    expect(await pool().verifyAll(withBad(MANY.slice(0, 40), [7]))).toEqual([7])
  })

  it('answers several callers at once', async () => {
    const shared = pool(2)
    const answers = await Promise.all([3, 500, 1001].map((bad) => shared.verifyAll(withBad(MANY, [bad]))))
    expect(answers).toEqual([[3], [500], [1001]])
    expect(lost).toEqual([])
  })

  it.each([
    ['a cut signature', { signatureHex: MANY[0]!.signatureHex.slice(2) }],
    ['no signature', { signatureHex: '' }],
    ['upper-case hex', { signatureHex: MANY[0]!.signatureHex.toUpperCase() }],
    ['a signature that is no hex', { signatureHex: 'zz'.repeat(64) }],
    ['another key', { publicKeyHex: '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c' }],
    ['a cut key', { publicKeyHex: '8a88' }],
    ['another text', { text: '{}' }],
    ['a text that UTF-8 cannot hold', { text: '\ud800' }],
  ])('takes %s as bad and does not stumble', async (_, change) => {
    const items = [{ ...MANY[0]!, ...change }, MANY[1]!]
    expect(await pool().verifyAll(items)).toEqual([0])
  })

  it('finishes what is in work when it is closed, and takes nothing more', async () => {
    const closing = pool(2)
    const answer = closing.verifyAll(withBad(MANY, [1200]))
    await closing.close()
    expect(await answer).toEqual([1200])
    await expect(closing.verifyAll(MANY)).rejects.toThrow('closed')
    expect(lost).toEqual([])
  })
})
