import { eventLogContract, type Tampering } from '../../../ports/event-log.contract.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { MemoryLog } from './memory-log.ts'
import { MemoryStore } from './memory-store.ts'

const stores = new Map<EventLog, MemoryStore>()

const openOn = (store: MemoryStore): EventLog => {
  const log = new MemoryLog(store)
  stores.set(log, store)
  return log
}

const storeOf = (log: EventLog): MemoryStore => {
  const store = stores.get(log)
  if (store === undefined) throw new Error('a log of another test')
  return store
}

eventLogContract('memory', {
  open: async () => openOn(new MemoryStore()),
  reopen: async (log) => {
    await log.close()
    return openOn(storeOf(log))
  },
  second: async (log) => openOn(storeOf(log)),
  manyKeys: 3000,
  tamper: async (log, change) => tamper(storeOf(log), change),
})

const tamper = ({ records }: MemoryStore, change: Tampering): void => {
  const index = records.findIndex(({ seq }) => seq === change.seq)
  const record = records[index]
  if (record === undefined) throw new Error(`there is no event ${change.seq}`)
  switch (change.kind) {
    case 'change':
      records[index] = { ...record, ...change.columns }
      break
    case 'delete':
      records.splice(index, 1)
      break
    case 'renumber':
      records[index] = { ...record, seq: change.to }
      break
  }
}
