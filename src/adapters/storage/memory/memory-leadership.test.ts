import { beforeEach, describe } from 'vitest'
import { leadershipContract } from '../../../ports/leadership.contract.ts'
import { memoryLeadership } from './memory-leadership.ts'
import { MemoryLog } from './memory-log.ts'
import { MemoryStore } from './memory-store.ts'

describe('leading on a log in memory', () => {
  let store = new MemoryStore()
  beforeEach(() => {
    store = new MemoryStore()
  })

  leadershipContract(
    'in memory',
    () => Promise.resolve({ log: new MemoryLog(store), leadership: memoryLeadership(store) }),
    false,
  )
})
