import { Map as PersistentMap } from 'immutable'
import { expect, it } from 'vitest'
import {
  logWith,
  node,
  other,
  useIntegrityFixture,
  wellSigned,
} from '../../../test/tamper/integrity.fixture.ts'
import { recordsAfter } from '../../../test/records.fixture.ts'
import { EMPTY_HEAD } from '../../core/log/event.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { missingCheckpointFault } from './recorded-checkpoint.ts'

const fixture = useIntegrityFixture()

const recordedAt = (newest: number | null, byNode: Readonly<Record<string, number>> = {}) => ({
  newest,
  byNode: PersistentMap(byNode),
})

const faultIn = async (
  log: Pick<EventLog, 'kind' | 'read' | 'head'>,
  recorded: ReturnType<typeof recordedAt>,
  own: typeof node | null = node,
) => {
  const head = await log.head()
  return (await missingCheckpointFault(log, fixture.store(), { recorded, own, head }))?.detail ?? null
}

it('is a fault if the file does not reach as far as the log records', async () => {
  const records = await wellSigned(40)
  const log = await logWith(records)
  expect(await faultIn(log, recordedAt(null))).toBeNull()
  expect(await faultIn(log, recordedAt(20))).toContain('records a checkpoint at 20, but there is none')
  await fixture.checkpointAt(records, 10, 20)
  expect(await faultIn(log, recordedAt(20))).toBeNull()
  expect(await faultIn(log, recordedAt(21))).toContain('at 21, but the newest one is at 20')
})

it('counts on PostgreSQL what the own key has recorded, and nothing of other homes', async () => {
  const log = await logWith(await wellSigned(40))
  const shared = { kind: 'postgres', read: log.read.bind(log), head: log.head.bind(log) } as const
  const recorded = recordedAt(30, { [other.nodeId]: 30 })
  expect(await faultIn(log, recorded)).not.toBeNull()
  expect(await faultIn(shared, recorded)).toBeNull()
  expect(await faultIn(shared, recorded, null)).toBeNull()
  expect(await faultIn(shared, recorded, other)).toContain('at 30')
})

it('may be missing behind the first batch alone', async () => {
  const [first, second] = [recordsAfter(EMPTY_HEAD, 5), await wellSigned(5)]
  const start = recordedAt(0)
  expect(await faultIn(await logWith(first), start)).toBeNull()
  expect(await faultIn(await logWith(first), recordedAt(1))).not.toBeNull()
  // Each of these events is a batch of its own.
  expect(await faultIn(await logWith(second), start)).toContain('at 0, but there is none')
  expect(await faultIn(await logWith(second.slice(0, 1)), start)).toBeNull()
})
