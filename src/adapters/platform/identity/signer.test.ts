import { programOf } from '../../../../test/program.fixture.ts'
import { spawnSync } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, it, vi } from 'vitest'
import type { Signer } from '../../../ports/signer.ts'
import { signerOf } from '../crypto/ed25519.ts'
import { nodeIdOf, publicKeyOf, type Identity } from './identity.ts'
import { createSigner } from './signer.ts'

const seed = Buffer.alloc(32, 1)
const publicKey = publicKeyOf(seed)
const identity: Identity = { nodeId: nodeIdOf('svc', publicKey), publicKey, seed, ephemeral: false }
const MESSAGE = '{"level":2,"prev_level":0,"reason":"daily_loss","triggered_by":"risk_monitor"}'
const SIGNATURE =
  'db1c806067734ef81ea84286e5b214b40297af8991a69b193224088792e5cda9590c88375bf2c4c16b672ebabe30481c805f8c368b5d9769ada2bbfe9cb9ea00'

const textsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `{"number":${number},"word":"Größe 😀"}`)
const expected = (texts: readonly string[]): readonly string[] => texts.map((text) => signerOf(seed)(text))

const lost: Error[] = []
const signers: Signer[] = []
const openSigner = (): Signer => {
  const signer = createSigner(identity, (error) => lost.push(error))
  signers.push(signer)
  return signer
}
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(signers.splice(0).map((signer) => signer.close()))
  lost.length = 0
})

it('holds the vector of the contract', async () => {
  const signer = openSigner()
  expect(signer).toMatchObject({ nodeId: 'svc-8a88e3dd7409f195', publicKey, ephemeral: false })
  expect(await signer.signAll([MESSAGE])).toEqual([SIGNATURE])
  expect(signer.sign(MESSAGE)).toBe(SIGNATURE)
})

it.each([0, 1, 4, 5, 300])('signs %i texts in order', async (count) => {
  expect(await openSigner().signAll(textsOf(count))).toEqual(expected(textsOf(count)))
  expect(lost).toEqual([])
})

it('signs for several callers at once', async () => {
  const signer = openSigner()
  const batches = [textsOf(100), textsOf(3), ['a\nb', '\n', '', 'c', 'd', 'e'], textsOf(40)]
  expect(await Promise.all(batches.map((texts) => signer.signAll(texts)))).toEqual(batches.map(expected))
})

it('finishes what is in work when closed, and takes nothing more', async () => {
  const closing = openSigner()
  const signatures = closing.signAll(textsOf(200))
  await closing.close()
  expect(await signatures).toEqual(expected(textsOf(200)))
  await expect(closing.signAll([MESSAGE])).rejects.toThrow('closed')
  expect(lost).toEqual([])
})

it('signs by itself what its thread did not answer, and starts another thread', async () => {
  const threads = new Set<Worker>()
  const post = Reflect.get(Worker.prototype, 'postMessage')
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...message) {
    // Nothing the first thread can make sense of: it ends by itself.
    post.apply(this, threads.size === 0 ? [null, []] : message)
    threads.add(this)
  })
  const signer = openSigner()
  expect(await signer.signAll(textsOf(50))).toEqual(expected(textsOf(50)))
  expect(lost.map(({ name }) => name)).toEqual(['WorkerLostError'])
  expect(await signer.signAll(textsOf(50))).toEqual(expected(textsOf(50)))
  expect(lost).toHaveLength(1)
  expect(threads.size).toBeGreaterThan(1)
})

it('keeps a process alive while it signs, and no longer', () => {
  const child = spawnSync(process.execPath, [programOf('identity/signing-process')], { encoding: 'utf8' })
  expect(child).toMatchObject({ status: 0, stdout: '1000', stderr: '' })
})
