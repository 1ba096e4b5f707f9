import { answerRequests, threadData } from '../../worker.ts'
import { connect, unavailable, type Database } from './database.ts'
import { SliceVerifier, type Slice, type VerifyAnswer } from './verify.ts'

const path = threadData as string

let db: Database | null = null
let verifier: SliceVerifier | null = null

const verify = (slice: Slice): VerifyAnswer => {
  try {
    db ??= connectToScan()
    verifier ??= new SliceVerifier(db)
    return { status: 'verified', fault: verifier.verify(slice) }
  } catch (error) {
    return { status: 'failed', message: unavailable('read', path, error).message }
  }
}

/** Every page of the file is read once: a large cache would only have to be filled. */
const connectToScan = (): Database => {
  const scanning = connect(path, 'read')
  scanning.exec('PRAGMA cache_size = -2048')
  return scanning
}

answerRequests(verify, () => db?.close())
