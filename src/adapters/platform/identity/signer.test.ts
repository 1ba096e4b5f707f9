import { spawnSync } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Signer } from '../../../ports/signer.ts'
import { ed25519 } from '../crypto/ed25519.ts'
import { publicKeyOf, nodeIdOf, type Identity } from './identity.ts'
import { createSigner } from './signer.ts'
import { createSharedSigningQueue, isAllSigned, signaturesOn, signNextChunk } from './signing-board.ts'
import { createSigningHelper } from './signing-helper.ts'
import { startSigningWorker } from './signing-worker.ts'

const seed = Buffer.alloc(32, 1)
const publicKey = publicKeyOf(seed)
const identity: Identity = { nodeId: nodeIdOf('svc', publicKey), publicKey, seed, ephemeral: false }
const MESSAGE = '{"level":2,"prev_level":0,"reason":"daily_loss","triggered_by":"risk_monitor"}'
const SIGNATURE =
  'db1c806067734ef81ea84286e5b214b40297af8991a69b193224088792e5cda9590c88375bf2c4c16b672ebabe30481c805f8c368b5d9769ada2bbfe9cb9ea00'

const textsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `{"number":${number},"word":"Größe 😀"}`)
const expected = (texts: readonly string[]): readonly string[] => {
  const sign = ed25519.signerOf(seed)
  return texts.map((text) => {
    const signature = Buffer.alloc(64)
    sign(text, signature)
    return signature.toString('hex')
  })
}

const faults: Error[] = []
const signers: Signer[] = []
const signerWith = (...[helper]: readonly Parameters<typeof createSigner>[2][]): Signer => {
  const signer = createSigner(identity, (error) => faults.push(error), helper)
  signers.push(signer)
  return signer
}
afterEach(async () => {
  await Promise.all(signers.splice(0).map((signer) => signer.close()))
  faults.length = 0
})

/** A helping thread with this code; the signer cannot tell it from the real one. */
const helperOf = (code: string) =>
  createSigningHelper(
    (options) => new Worker(code, { ...options, eval: true }),
    seed,
    (error) => faults.push(error),
  )

/** A thread takes a moment to start, in which the caller would do everything alone. */
const runningHelper = async () => {
  const helper = createSigningHelper(startSigningWorker, seed, (error) => faults.push(error))
  await helper.offer(createSharedSigningQueue(textsOf(1)))()
  return helper
}

describe('signer', () => {
  let signer: Signer
  beforeAll(async () => {
    signer = createSigner(identity, (error) => faults.push(error), await runningHelper())
  })
  afterAll(() => signer.close())

  it('holds the vector of the contract', async () => {
    expect(signer).toMatchObject({ nodeId: 'svc-8a88e3dd7409f195', publicKey, ephemeral: false })
    expect(await signer.signAll([MESSAGE])).toEqual([SIGNATURE])
    expect(signer.sign(MESSAGE)).toBe(SIGNATURE)
  })

  it.each([0, 1, 16, 17, 1000])('signs %i texts in order', async (count) => {
    const texts = textsOf(count)
    expect(await signer.signAll(texts)).toEqual(expected(texts))
    expect(faults).toEqual([])
  })

  it('signs for several callers at once', async () => {
    const batches = [textsOf(300), textsOf(3), textsOf(500), textsOf(40)]
    expect(await Promise.all(batches.map((texts) => signer.signAll(texts)))).toEqual(batches.map(expected))
  })

  it('signs texts that hold the separator of the threads', async () => {
    const texts = [...textsOf(200), 'a\nb', '\n', '']
    expect(await signer.signAll(texts)).toEqual(expected(texts))
  })

  it('starts its thread by itself, finishes what is in work when closed, and takes nothing more', async () => {
    const closing = signerWith()
    const texts = textsOf(400)
    const signatures = closing.signAll(texts)
    await closing.close()
    expect(await signatures).toEqual(expected(texts))
    await expect(closing.signAll([MESSAGE])).rejects.toThrow('closed')
    expect(faults).toEqual([])
  })
})

/** A process of its own, with a signer in it. */
const runWithSigner = (code: string) =>
  spawnSync(
    process.execPath,
    [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      `import { createSigner } from ${JSON.stringify(new URL('./signer.ts', import.meta.url).href)}
      import { createEphemeralIdentity } from ${JSON.stringify(new URL('./identity.ts', import.meta.url).href)}
      const signer = createSigner(createEphemeralIdentity('svc'), console.error)
      ${code}`,
    ],
    { encoding: 'utf8', timeout: 25_000 },
  )

it('keeps a process alive while it signs, and no longer', () => {
  const child = runWithSigner(`
    const texts = Array.from({ length: 500 }, (_, number) => '{"number":' + number + '}')
    let batches = 0
    // Long enough for the thread to start and take its share.
    for (const end = Date.now() + 700; Date.now() < end; batches += 2) {
      await Promise.all([signer.signAll(texts), signer.signAll(texts)])
    }
    process.stdout.write(batches > 0 ? 'signed' : 'nothing')`)
  expect(child).toMatchObject({ status: 0, stdout: 'signed', stderr: '' })
})

it('keeps a process alive until it is closed, even if its thread answers only then', () => {
  const child = runWithSigner(`
    await signer.signAll(Array.from({ length: 5 }, (_, number) => '{"number":' + number + '}'))
    // The thread starts and answers, but the answer is heard only while it is being ended.
    for (const end = Date.now() + 2000; Date.now() < end;);
    await signer.close()
    process.stdout.write('closed')`)
  expect(child).toMatchObject({ status: 0, stdout: 'closed', stderr: '' })
})

describe('the helping thread', () => {
  it('signs what it is offered', async () => {
    const helper = await runningHelper()
    const board = createSharedSigningQueue(textsOf(100))
    await helper.offer(board)()
    expect(isAllSigned(board)).toBe(true)
    expect(signaturesOn(board)).toEqual(expected(textsOf(100)))
    await helper.close()
  })

  it('leaves texts alone that it could mix up', async () => {
    const helper = await runningHelper()
    const board = createSharedSigningQueue(['a\nb', 'c'])
    await helper.offer(board)()
    expect(isAllSigned(board)).toBe(false)
    signNextChunk(board, ed25519.signerOf(seed))
    expect(signaturesOn(board)).toEqual(expected(['a\nb', 'c']))
    await helper.close()
  })

  it('may die with texts in its hands', async () => {
    const code = `require('node:worker_threads').parentPort.on('message', ({ shared }) => {
      Atomics.add(new Int32Array(shared, 0, 2), 0, 16)
      throw new Error('struck by lightning')
    })`
    const signer = signerWith(helperOf(code))
    const texts = textsOf(5000)
    expect(await signer.signAll(texts)).toEqual(expected(texts))
    await expect.poll(() => faults.map(String)).toEqual(['Error: struck by lightning'])
    expect(await signer.signAll(textsOf(50))).toEqual(expected(textsOf(50)))
  })

  it('may fail to start', async () => {
    const signer = signerWith(helperOf('process.exit(3)'))
    const board = textsOf(2000)
    expect(await signer.signAll(board)).toEqual(expected(board))
    await expect.poll(() => faults.map(String)).toEqual(['Error: the signing thread ended with code 3'])
  })

  it('is not waited for when it has nothing of ours', async () => {
    const signer = signerWith(helperOf(`require('node:worker_threads').parentPort.on('message', () => {})`))
    expect(await signer.signAll(textsOf(100))).toEqual(expected(textsOf(100)))
  })
})

it('hands every text to exactly one taker', () => {
  fc.assert(
    fc.property(fc.nat({ max: 200 }), fc.array(fc.boolean(), { maxLength: 40 }), (count, turns) => {
      const board = createSharedSigningQueue(textsOf(count))
      const signed: string[] = []
      const sign = (text: string): void => void signed.push(text)
      for (const turn of turns) if (turn) signNextChunk(board, sign)
      while (signNextChunk(board, sign));
      expect(signed).toEqual(textsOf(count))
      expect(isAllSigned(board)).toBe(true)
    }),
  )
})
