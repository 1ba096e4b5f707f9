import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EXAMPLE_KEY, exampleData, exampleNote, exampleProof } from '../../../test/example-proof.fixture.ts'
import { consistencyProof } from '../../../test/rfc6962.fixture.ts'
import { testSigner } from '../../../test/signer.fixture.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { consistencyProofText, parseVerifierKey, verifierKeyText } from '../../core/log/proof.ts'
import { EVENT_RECORD } from '../../surfaces/http/examples.ts'
import { PROOF } from '../../surfaces/http/routes/proofs.ts'
import { verifyProof, type ProofVerdict } from './verify-proof.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

const KEY = parseVerifierKey(EXAMPLE_KEY, sha256)!
const OTHER_KEY = keyOf('svc-other', testSigner(2).publicKey)

function keyOf(name: string, publicKey: string): typeof KEY {
  return parseVerifierKey(verifierKeyText(name, publicKey, sha256), sha256)!
}

const verify = (text: string, key: typeof KEY | null = KEY): Promise<ProofVerdict> =>
  verifyProof(text, key, signatures)

const growth = (from: number, to: number): string =>
  consistencyProofText({
    path: consistencyProof(from, exampleData.slice(0, to)),
    older: exampleNote(from),
    newer: exampleNote(to),
  })

describe('a proof of inclusion', () => {
  it('is the one of the documentation, and shows what was hashed', async () => {
    expect(exampleProof()).toBe(PROOF)
    expect(await verify(PROOF)).toMatchObject({
      status: 'included',
      seq: 1,
      hash: EVENT_RECORD.hash,
      event: {
        id: EVENT_RECORD.id,
        type: EVENT_RECORD.type,
        ts: EVENT_RECORD.ts,
        source: EVENT_RECORD.source,
        traceId: null,
        dedupeKey: null,
        payload: '{"conviction":7.5,"direction":"bullish","rationale":"Größe | ok","symbol":"BTC"}',
      },
      treeHead: { size: 5, time: '2026-02-20T00:30:00.000Z' },
    })
  })

  it('holds for every event and every size', async () => {
    for (let size = 1; size <= 5; size += 1)
      for (let index = 0; index < size; index += 1)
        expect(await verify(exampleProof(index, size))).toMatchObject({ status: 'included', seq: index + 1 })
  })

  it('does not hold with any byte changed or missing', async () => {
    for (let at = 0; at < PROOF.length; at += 1) {
      const before = PROOF.charAt(at)
      for (const after of ['', before === 'A' ? 'B' : 'A', before === '\n' ? ' ' : '\n']) {
        const { status } = await verify(PROOF.slice(0, at) + after + PROOF.slice(at + 1))
        expect(status, `${JSON.stringify(before)} at ${at} to ${JSON.stringify(after)}`).toBe('refused')
      }
    }
  })

  it('does not hold for another index', async () => {
    for (const index of ['1', '4', '5', '9007199254740993'])
      expect(await verify(PROOF.replace('index 0', `index ${index}`))).toMatchObject({ status: 'refused' })
    expect(await verify(PROOF.replace('index 0', 'index 1'))).toMatchObject({
      reason: 'not_included',
      detail: `event ${EVENT_RECORD.id} is not number 2 of the 5 signed events`,
    })
  })

  it('does not hold for another event', async () => {
    const other = exampleProof(1)
      .split('\n')
      .find((line) => line.startsWith('extra '))
    expect(await verify(PROOF.replace(/^extra .*$/m, other!))).toMatchObject({ reason: 'not_included' })
  })

  it('does not hold with the checkpoint of another size', async () => {
    const cut = PROOF.slice(0, PROOF.indexOf('\n\n') + 2)
    expect(await verify(cut + exampleNote(4))).toMatchObject({ reason: 'not_included' })
  })

  it('needs the key that signed: another one, or one of another name, is refused', async () => {
    const detail = expect.stringContaining(
      'is signed by svc-8a88e3dd7409f195 (key id 0094aa35), not by svc-other',
    )
    expect(await verify(PROOF, OTHER_KEY)).toEqual({ status: 'refused', reason: 'wrong_key', detail })
    const renamed = keyOf('svc-other', KEY.publicKey)
    expect(await verify(PROOF, renamed)).toMatchObject({ reason: 'wrong_key' })
    const sameName = keyOf(KEY.name, OTHER_KEY.publicKey)
    expect(await verify(PROOF, sameName)).toMatchObject({ reason: 'wrong_key' })
  })

  it('says whose key it is said to be, without a key', async () => {
    expect(await verify(PROOF, null)).toEqual({
      status: 'refused',
      reason: 'key_missing',
      detail:
        'the checkpoint at 5 says that it is signed by svc-8a88e3dd7409f195 (key id 0094aa35); ' +
        'without that key this is not checked',
    })
  })

  it('refuses a signature of the key over something else', async () => {
    const other = exampleNote(4).split('\n').at(-2)!
    expect(await verify(PROOF.replace(/^\u2014 .*$/m, other))).toEqual({
      status: 'refused',
      reason: 'signature',
      detail: 'svc-8a88e3dd7409f195 did not sign this checkpoint at 5',
    })
  })

  it('may carry the signatures of others, too', async () => {
    const witness = `\u2014 witness.example/w1 ${Buffer.alloc(76, 7).toString('base64')}\n`
    expect(await verify(PROOF + witness)).toMatchObject({ status: 'included' })
  })

  it.each([
    ['nothing', ''],
    ['another text', 'once upon a time\n\nthere was a log\n'],
    ['no content', PROOF.replace(/^extra .*\n/m, '')],
    ['content that is no event', PROOF.replace(/^extra .*$/m, 'extra YWJj')],
    ['content that is no text', PROOF.replace(/^extra .*$/m, 'extra /////w==')],
    ['no checkpoint', PROOF.slice(0, PROOF.indexOf('\n\n') + 2)],
    ['no signature', PROOF.replace(/\n\n\u2014.*\n$/, '\n')],
    ['windows line ends', PROOF.replaceAll('\n', '\r\n')],
  ])('is not %s', async (_, text) => {
    expect(await verify(text)).toMatchObject({ status: 'refused', reason: 'malformed' })
  })
})

describe('docs/proofs.md', () => {
  it('shows the example as it is, with its key', () => {
    const page = readFileSync(new URL('../../../docs/proofs.md', import.meta.url), 'utf8')
    expect(page).toContain(PROOF)
    expect(page).toContain(`--key "${EXAMPLE_KEY}"`)
    expect(page).toContain(`prints \`${EVENT_RECORD.hash}\``)
  })
})

describe('a proof of consistency', () => {
  it('holds between any two checkpoints of the log', async () => {
    for (let to = 1; to <= 5; to += 1)
      for (let from = 1; from <= to; from += 1)
        expect(await verify(growth(from, to))).toMatchObject({
          status: 'consistent',
          older: { size: from },
          newer: { size: to },
        })
  })

  it('does not hold with any byte changed', async () => {
    const proof = growth(3, 5)
    for (let at = 0; at < proof.length; at += 1) {
      const before = proof.charAt(at)
      const { status } = await verify(proof.slice(0, at) + (before === 'A' ? 'B' : 'A') + proof.slice(at + 1))
      expect(status, `${JSON.stringify(before)} at ${at}`).toBe('refused')
    }
  })

  it('does not hold backwards, for two logs, with another key or without one', async () => {
    const path = consistencyProof(3, exampleData)
    const backwards = consistencyProofText({ path, older: exampleNote(5), newer: exampleNote(3) })
    expect(await verify(backwards)).toMatchObject({ reason: 'inconsistent' })
    const elsewhere = exampleNote(3).replace('signal-engine/events/e3', 'signal-engine/events/e4')
    const mixed = consistencyProofText({ path, older: elsewhere, newer: exampleNote(5) })
    expect(await verify(mixed)).toMatchObject({
      reason: 'inconsistent',
      detail: expect.stringContaining('two logs'),
    })
    expect(await verify(growth(3, 5), OTHER_KEY)).toMatchObject({ reason: 'wrong_key' })
    expect(await verify(growth(3, 5), null)).toMatchObject({ reason: 'key_missing' })
  })
})

describe('a verifier key', () => {
  it('is written as the reference implementation of signed notes writes it', () => {
    const text = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
    const { name, publicKey } = parseVerifierKey(text, sha256)!
    expect(verifierKeyText(name, publicKey, sha256)).toBe(text)
    expect(parseVerifierKey(`  ${text}\n`, sha256)).toMatchObject({ name: 'PeterNeumann', keyId: 'c74f20a3' })
  })

  it.each([
    'PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    'PeterNeumann+c74f20a3+AhpC2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10T',
    'PeterNeumann+c74f20a3',
    '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c',
    '',
  ])('with a mistake is refused: %s', (text) => {
    expect(parseVerifierKey(text, sha256)).toBeNull()
  })
})
