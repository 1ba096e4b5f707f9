import { answerRequests, threadData } from '../../worker.ts'
import { connect, unavailable, type Database } from './database.ts'
import { SliceVerifier, type Slice, type VerifyAnswer } from './verify.ts'

const path = threadData as string

let db: Database | null = null
let verifier: SliceVerifier | null = null

const verify = (slice: Slice): VerifyAnswer => {
  try {
    db ??= connect(path, 'read')
    verifier ??= new SliceVerifier(db)
    return { status: 'verified', fault: verifier.verify(slice) }
  } catch (error) {
    return { status: 'failed', message: unavailable('read', path, error).message }
  }
}

answerRequests(verify, () => db?.close())
