import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Signer } from '../../../ports/signer.ts'
import { ed25519 } from '../crypto/ed25519.ts'
import type { Identity } from './identity.ts'
import {
  createSharedSigningQueue,
  isAllClaimed,
  isAllSigned,
  signaturesOn,
  signNextChunk,
  type SharedSigningQueue,
} from './signing-board.ts'
import { createSigningHelper, type SigningHelper } from './signing-helper.ts'
import { startSigningWorker } from './signing-worker.ts'

/**
 * Signs small batches at once. Larger ones are taken chunk by chunk by this thread and a helping one,
 * whoever is free: a busy loop leaves the work to the helper, a busy helper leaves it to us.
 */
export const createSigner = (
  identity: Identity,
  onThreadFault: (error: Error) => void,
  helper: SigningHelper = createSigningHelper(startSigningWorker, identity.seed, onThreadFault),
): Signer => {
  const sign = ed25519.signerOf(identity.seed)
  let closed = false

  /** Signs what nobody else took, and lets the loop turn between chunks. */
  const signShare = async (board: SharedSigningQueue): Promise<void> => {
    while (signNextChunk(board, sign)) if (!isAllClaimed(board.shared)) await nextTurn()
  }

  const signAlone = async (texts: readonly string[]): Promise<readonly string[]> => {
    const board = createSharedSigningQueue(texts)
    await signShare(board)
    return signaturesOn(board)
  }

  const signTogether = async (texts: readonly string[]): Promise<readonly string[]> => {
    const board = createSharedSigningQueue(texts)
    const helperSettled = helper.offer(board)
    // A busy loop takes long to turn: until then the helper has signed most of it.
    await nextTurn()
    await signShare(board)
    if (!isAllSigned(board)) await helperSettled()
    // The helper died with texts in its hands, and nobody knows which.
    if (!isAllSigned(board)) return signAlone(texts)
    return signaturesOn(board)
  }

  return {
    nodeId: identity.nodeId,
    publicKey: identity.publicKey,
    ephemeral: identity.ephemeral,
    signAll: async (texts) => {
      if (closed) throw new Error('the signer is closed')
      return texts.length <= ALONE_MAX ? signAlone(texts) : signTogether(texts)
    },
    sign: (text) => {
      const signature = new Uint8Array(SIGNATURE_BYTES)
      sign(text, signature)
      return Buffer.from(signature).toString('hex')
    },
    close: async () => {
      closed = true
      await helper.close()
    },
  }
}

/** So few are signed before another thread would have heard of them. */
const ALONE_MAX = 4

const SIGNATURE_BYTES = 64
