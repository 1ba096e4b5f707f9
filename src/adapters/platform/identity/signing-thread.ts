import { answerRequests, threadData } from '../../worker.ts'
import { signerOf } from '../crypto/ed25519.ts'

const sign = signerOf(threadData as Uint8Array)

answerRequests((texts: readonly string[]) => texts.map(sign))
