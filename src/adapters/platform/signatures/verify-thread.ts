import { parentPort } from 'node:worker_threads'
import type { SignedText } from '../../../ports/signatures.ts'
import { standBack } from '../../helping-threads.ts'
import { badSignaturesIn } from './bad-signatures.ts'

standBack()

// The whole life of a verifying thread: a slice in, the bad indices of that slice out, in order.
parentPort?.on('message', (items: readonly SignedText[]) =>
  parentPort?.postMessage(badSignaturesIn(items), []),
)
