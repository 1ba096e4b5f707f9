import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testClock, testSigner } from '../../../../test/signer.fixture.ts'
import { Engine } from '../../../engine/engine.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const moves = async () => {
  const records = await server.log.read({ types: ['system.kill_switch'], order: 'asc', limit: 100 })
  return records.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
}

describe('the kill switch', () => {
  it('is normal on a fresh server', async () => {
    const { status, body } = await server.call('GET', '/kill-switch')
    expect([status, body]).toEqual([
      200,
      { level: 0, state: 'normal', reason: null, changed_at: null, changed_by: null },
    ])
  })

  it('is raised and lowered to any level, by this node', async () => {
    const raised = await server.call('POST', '/kill-switch', {
      json: { level: 2, reason: '  x  ', other: 1 },
    })
    const changed = {
      state: 'crisis',
      reason: 'x',
      changed_at: '2026-02-20T00:30:00.000Z',
      changed_by: server.engine.nodeId,
    }
    expect([raised.status, raised.body]).toEqual([200, { level: 2, ...changed }])
    expect((await server.call('GET', '/kill-switch')).body).toEqual(raised.body)
    const lowered = await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'y' } })
    expect([lowered.status, lowered.body]).toMatchObject([200, { level: 1, state: 'caution', reason: 'y' }])
    expect(await moves()).toMatchObject([
      { level: 2, prev_level: 0, reason: 'x', triggered_by: server.engine.nodeId },
      { level: 1, prev_level: 2, reason: 'y', reset_by: server.engine.nodeId },
    ])
  })

  it('writes nothing for the level it has', async () => {
    await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    const { seq } = await server.log.head()
    const again = await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'again' } })
    expect([again.status, again.body]).toMatchObject([200, { level: 1, reason: 'x' }])
    expect((await server.log.head()).seq).toBe(seq)
  })

  it('is not lowered by what was meant as a raise', async () => {
    await server.call('POST', '/kill-switch', { json: { level: 3, reason: 'x' } })
    const late = { level: 2, reason: 'late', raise_only: true }
    const answer = await server.call('POST', '/kill-switch', { json: late })
    expect([answer.status, answer.body]).toMatchObject([200, { level: 3, reason: 'x' }])
    expect(await moves()).toHaveLength(1)
  })

  it('refuses what is no move', async () => {
    for (const [json, member, type] of [
      [{ level: 4, reason: 'x' }, 'level', 'less_than_equal'],
      [{ level: -1, reason: 'x' }, 'level', 'greater_than_equal'],
      [{ level: '1', reason: 'x' }, 'level', 'number_type'],
      [{ level: 1.5, reason: 'x' }, 'level', 'int_type'],
      [{ level: null, reason: 'x' }, 'level', 'number_type'],
      [{ reason: 'x' }, 'level', 'missing'],
      [{ level: 1 }, 'reason', 'missing'],
      [{ level: 1, reason: '   ' }, 'reason', 'string_too_short'],
      [{ level: 1, reason: 'x'.repeat(501) }, 'reason', 'string_too_long'],
      [{ level: 1, reason: 7 }, 'reason', 'string_type'],
    ] as const) {
      const { status, body } = await server.call('POST', '/kill-switch', { json })
      expect([status, body['code'], body['errors']], JSON.stringify(json)).toMatchObject([
        422,
        'request.invalid',
        [{ loc: ['body', member], type }],
      ])
    }
    const both = await server.call('POST', '/kill-switch', { json: {} })
    expect(both.body['errors']).toHaveLength(2)
    expect(both.body['detail']).toMatch(/and 1 more/)
    expect(
      (await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x'.repeat(500) } })).status,
    ).toBe(200)
  })

  it('sees at once what another process wrote', async () => {
    const other = await Engine.open({
      log: server.log,
      signer: testSigner(),
      clock: testClock(),
      snapshotEveryEvents: 1000,
      onError: (what, error) => {
        throw new Error(what, { cause: error })
      },
    })
    const move = { level: 3, reason: 'from the command line', operator: 'svc-cli', surface: 'cli' } as const
    await other.execute({ kind: 'set-kill-switch', move })
    expect((await server.call('GET', '/kill-switch')).body).toMatchObject({ level: 3, changed_by: 'svc-cli' })
    await other.close()
  })

  it('answers each of many moves at once with its own level', async () => {
    const levels = Array.from({ length: 50 }, (_, index) => index % 4)
    const answers = await Promise.all(
      levels.map((level) => server.call('POST', '/kill-switch', { json: { level, reason: `${level}` } })),
    )
    expect(answers.map(({ body }) => body['level'])).toEqual(levels)
  })
})
