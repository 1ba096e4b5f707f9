import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { node, useIntegrityFixture, wellSigned } from '../../../test/tamper/integrity.fixture.ts'
import { fill } from '../../../test/tamper/signed-log.fixture.ts'
import { openSqliteLog } from '../../adapters/storage/sqlite/sqlite-log.ts'
import { catchUp, EMPTY_MEMORY, snapshotOf } from '../memory.ts'

type Raw = InstanceType<typeof DatabaseSync>

const fixture = useIntegrityFixture()
const { verify } = fixture

const logFile = (): string => join(dirname(fixture.path()), 'events.db')

/** A log of 600 events with checkpoints at 300 and 600, whose file is then edited. */
const edited = async (edit: (raw: Raw) => void) => {
  const records = await wellSigned(600)
  const log = await openSqliteLog({ path: logFile() })
  await fill(log, records)
  await fixture.checkpointAt(records, 300, 600)
  const raw = new DatabaseSync(logFile())
  edit(raw)
  raw.close()
  return log
}

describe('the stored tree', () => {
  it('passes while nobody touched it', async () => {
    const log = await edited(() => undefined)
    for (const mode of ['fast', 'full'] as const)
      expect(await verify(log, { mode })).toMatchObject({ ok: true, checks: { projections: 'pass' } })
    await log.close()
  })

  it.each([
    ['changed', `UPDATE tree_nodes SET hash = '${'00'.repeat(32)}' WHERE level = 1 AND idx = 1`],
    ['removed', 'DELETE FROM tree_nodes WHERE level = 1 AND idx = 1'],
    [
      'exchanged',
      'UPDATE tree_nodes SET hash = (SELECT hash FROM tree_nodes WHERE idx = 0) WHERE level = 1 AND idx = 1',
    ],
  ])('has a node %s: every way to verify finds it', async (_, sql) => {
    const log = await edited((raw) => raw.exec(sql))
    const full = await verify(log, { mode: 'full' })
    expect(full).toMatchObject({ ok: false, reason: 'tree', checks: { projections: 'fail' } })
    expect(full.detail).toContain('events 257 to 512')
    expect(await verify(log, { mode: 'fast' })).toMatchObject({ ok: false, reason: 'tree' })
    await log.close()
  })
})

describe('a snapshot', () => {
  it('that is signed and does not follow from the events is found', async () => {
    const log = await edited(() => undefined)
    const trust = { signatures: fixture.signatures, own: null, firstHash: null }
    const memory = await catchUp(log, EMPTY_MEMORY, { trust })
    await log.saveSnapshot(snapshotOf(memory, node))
    expect(await verify(log)).toMatchObject({ ok: true })
    const { operations } = memory.state
    const state = { ...memory.state, operations: { ...operations, configHash: 'other' } }
    await log.saveSnapshot(snapshotOf({ ...memory, state }, node))
    const report = await verify(log)
    expect(report).toMatchObject({ ok: false, reason: 'projections', checks: { projections: 'fail' } })
    expect(report.detail).toContain('the snapshot at 600 does not follow from the events')
    await log.close()
  })
})
