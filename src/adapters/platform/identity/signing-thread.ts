import { parentPort, workerData } from 'node:worker_threads'
import { standBack } from '../../helping-threads.ts'
import { ed25519 } from '../crypto/ed25519.ts'
import { boardOf, signNextChunk, type SigningOrder, type SigningThreadData } from './signing-board.ts'

standBack()

const sign = ed25519.signerOf((workerData as SigningThreadData).seed)

parentPort?.on('message', (order: SigningOrder) => {
  const board = boardOf(order)
  if (board !== null) while (signNextChunk(board, sign));
  parentPort?.postMessage(order.id, [])
})
