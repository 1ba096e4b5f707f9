import { nodeId } from '../../../core/shared/brand.ts'
import type { Signer } from '../../../ports/signer.ts'
import { WorkerLostError, WorkerThread } from '../../worker.ts'
import { yieldToEventLoop } from '../../../ports/yield-to-event-loop.ts'
import { signerOf } from '../crypto/ed25519.ts'
import type { Identity } from './identity.ts'

/** Signs a few texts at once on the calling thread, and larger batches on threads that take turns. */
export const createSigner = (identity: Identity, onThreadLost: (error: Error) => void): Signer => {
  const sign = signerOf(identity.seed)
  const threads = Array.from(
    { length: THREADS },
    () =>
      new WorkerThread<readonly string[], readonly string[]>(
        './signing-thread.ts',
        import.meta.url,
        identity.seed,
      ),
  )
  let batches = 0
  let closed = false

  const signHere = async (texts: readonly string[]): Promise<readonly string[]> => {
    const signatures: string[] = []
    for (const [index, text] of texts.entries()) {
      if (index > 0 && index % TEXTS_HERE_MAX === 0) await yieldToEventLoop()
      signatures.push(sign(text))
    }
    return signatures
  }

  return {
    nodeId: nodeId(identity.nodeId),
    publicKey: identity.publicKey,
    ephemeral: identity.ephemeral,
    sign,
    signAll: async (texts) => {
      if (closed) throw new Error('the signer is closed')
      if (texts.length <= TEXTS_HERE_MAX) return signHere(texts)
      batches += 1
      try {
        return (await threads[batches % THREADS]?.request(texts)) ?? []
      } catch (error) {
        if (!(error instanceof WorkerLostError)) throw error
        onThreadLost(error)
        return signHere(texts)
      }
    },
    close: async () => {
      closed = true
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

/** The engine has up to three batches under way: while one is stored, two are signed. */
const THREADS = 2

/** So few are signed before another thread would have received them. */
const TEXTS_HERE_MAX = 4
