import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { signaturePool } from '../../src/adapters/platform/signatures/signature-pool.ts'
import type { SignedText } from '../../src/ports/signatures.ts'
import { interleave, median, medianRatio, rateOf, type BenchRow } from '../harness.ts'
import { recordsOf, sampleEvents } from './sample-events.ts'
import { EMPTY_HEAD } from '../../src/core/log/event.ts'

const EVENTS = 20_000
const PLAIN_EVENTS = 4000
/** The last bytes of the key's usual form are the key. */
const KEY_BYTES = 32

/** T4: signatures of stored events checked on every core, against the plainest way on one thread. */
export const benchSignatures = async (rounds: number): Promise<readonly BenchRow[]> => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const publicKeyHex = publicKey.export({ type: 'spki', format: 'der' }).subarray(-KEY_BYTES).toString('hex')
  const items: readonly SignedText[] = recordsOf(sampleEvents(0, EVENTS), EMPTY_HEAD).map(({ payload }) => ({
    text: payload,
    signatureHex: sign(null, Buffer.from(payload), privateKey).toString('hex'),
    publicKeyHex,
  }))
  const key = createPublicKey(privateKey)
  const plain = (): void => {
    for (const { text, signatureHex } of items.slice(0, PLAIN_EVENTS)) {
      if (!verify(null, Buffer.from(text), key, Buffer.from(signatureHex, 'hex')))
        throw new Error('a bad one')
    }
  }
  const pool = signaturePool()
  try {
    await pool.verifyAll(items)
    const rates = await interleave(rounds, {
      pool: () =>
        rateOf(EVENTS, async () => {
          if ((await pool.verifyAll(items)).length > 0) throw new Error('a bad one')
        }),
      plain: () => rateOf(PLAIN_EVENTS, plain),
    })
    return [
      {
        id: 'T4',
        what: `signatures/s verified, all cores (${Math.round(median(rates.pool))}/s)`,
        value: medianRatio(rates.pool, rates.plain),
        target: '>= 3.8',
        baseline: `node:crypto verify, one thread (${Math.round(median(rates.plain))}/s)`,
      },
    ]
  } finally {
    await pool.close()
  }
}
