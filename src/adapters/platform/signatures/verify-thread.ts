import { parentPort } from 'node:worker_threads'
import type { SignedText } from '../../../ports/signatures.ts'
import { badSignaturesIn } from './bad-signatures.ts'

// The whole life of a verifying thread: a slice in, the bad indices of that slice out, in order.
parentPort?.on('message', (items: readonly SignedText[]) =>
  parentPort?.postMessage(badSignaturesIn(items), []),
)
