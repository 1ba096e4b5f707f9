import { nodeId } from '../src/core/shared/brand.ts'
import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import type { Clock } from '../src/ports/clock.ts'
import type { Signer } from '../src/ports/signer.ts'

/** A real Ed25519 signer from 32 bytes, without files. */
export const testSigner = (seedByte = 1): Signer => {
  const key = privateKeyOf(Buffer.alloc(32, seedByte))
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = spki.subarray(spki.length - 32).toString('hex')
  return {
    nodeId: nodeId(`svc-${publicKey.slice(0, 16)}`),
    publicKey,
    ephemeral: false,
    sign: (text) => sign(null, Buffer.from(text), key).toString('hex'),
    signAll: (texts) =>
      Promise.resolve(texts.map((text) => sign(null, Buffer.from(text), key).toString('hex'))),
    close: () => Promise.resolve(),
  }
}

/** A clock that only moves by `advance`. Its ids are real. */
export const testClock = (
  start = Date.parse('2026-02-20T00:30:00.000Z'),
): Clock & { advance(ms: number): void } => {
  let now = start
  return {
    now: () => now,
    newId: uuidv7,
    advance: (ms) => {
      now += ms
    },
  }
}

const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

const privateKeyOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' })
