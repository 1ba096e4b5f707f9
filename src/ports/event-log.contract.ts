import { appendContract } from './event-log.append.contract.ts'
import { differentialContract } from './event-log.differential.contract.ts'
import { logsOf, type EventLogHarness } from './event-log.fixture.ts'
import { keepContract } from './event-log.keep.contract.ts'
import { readContract } from './event-log.read.contract.ts'
import { treeContract } from './event-log.tree.contract.ts'
import { verifyContract } from './event-log.verify.contract.ts'

export type { EventLogHarness, Tampering } from './event-log.fixture.ts'

/** Contract of every event log. Each adapter runs it, and is compared with the log in memory by a random walk. */
export const eventLogContract = (name: string, harness: EventLogHarness): void => {
  const logs = logsOf(name, harness)
  appendContract(logs)
  readContract(logs)
  keepContract(logs)
  verifyContract(logs)
  treeContract(logs)
  differentialContract(logs)
}
