import { sessionId, timestampOf } from '../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testClock, testSigner } from '../../../test/signer.fixture.ts'
import { appendTo } from '../../../test/records.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { Engine } from '../engine.ts'
import { SESSION_EVENTS_MAX, traceSessionOf } from './trace-session.ts'

const CONTEXT = { now: timestampOf('2026-02-20T00:30:00.000Z'), ttlHours: 24 }

let engine: Engine
beforeEach(async () => {
  engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock: testClock(),
    snapshotEveryEvents: 100_000,
    onError: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })
})
afterEach(() => engine.close())

const open = async (traceIds: readonly string[]): Promise<string> => {
  const outcome = await engine.execute({ kind: 'open-session', label: '', agent: null, owner: 'token' })
  if (outcome.status !== 'done') throw new Error('refused')
  const id = String(engine.state.signals.traces.sessions.keySeq().first())
  for (const traceId of traceIds)
    await engine.execute({
      kind: 'append-trace',
      sessionId: sessionId(id),
      traceId,
      by: { owner: 'token', isOperator: false },
    })
  return id
}

describe('the events of a session', () => {
  it('come from all its traces, in the order of the log', async () => {
    const traceIds = Array.from({ length: 40 }, (_, index) => `t${index}`)
    const id = await open(traceIds)
    const records = await appendTo(engine.log, 200, (seq) => ({ traceId: `t${(seq * 7) % 50}` }))
    const wanted = records
      .filter(({ traceId }) => traceIds.includes(traceId ?? ''))
      .map((record) => record.id)
    const session = await traceSessionOf(engine, id, CONTEXT)
    expect(session?.events.map((event) => event.id)).toEqual(wanted)
  })

  it('are so many and no more', async () => {
    const id = await open(['t0', 't1'])
    const records = await appendTo(engine.log, SESSION_EVENTS_MAX + 10, (seq) => ({ traceId: `t${seq % 2}` }))
    const session = await traceSessionOf(engine, id, CONTEXT)
    expect(session?.events.map((event) => event.id)).toEqual(
      records.slice(0, SESSION_EVENTS_MAX).map((record) => record.id),
    )
  })

  it('are none of a session that is not there', async () => {
    expect(await traceSessionOf(engine, 'none', CONTEXT)).toBeNull()
  })
})
