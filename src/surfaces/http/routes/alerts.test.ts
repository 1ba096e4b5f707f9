import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callersOf, resultOf } from '../../mcp/caller.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

interface Alerts {
  readonly open: readonly { readonly id: string; readonly type: string; readonly payload: object }[]
}

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
  for (const level of [1, 2]) await server.call('POST', '/kill-switch', { json: { level, reason: 'drill' } })
})
afterEach(() => server.close())

const open = async (): Promise<Alerts['open']> =>
  ((await server.call('GET', '/alerts')).body as unknown as Alerts).open
const acknowledge = (json: object) => server.call('POST', '/alerts/acknowledge', { json })

describe('alerts', () => {
  it('are open, newest first, until somebody acknowledges them', async () => {
    const [newest, oldest] = await open()
    expect([newest, oldest]).toMatchObject([
      { type: 'alert.kill_switch', payload: { level: 2, urgency: 'immediate' } },
      { type: 'alert.kill_switch', payload: { level: 1 } },
    ])
    const { status, body } = await acknowledge({ alert_ids: [oldest?.id, 'unknown'] })
    expect([status, body]).toEqual([200, { acknowledged: [oldest?.id], not_open: ['unknown'] }])
    expect(await open()).toEqual([newest])
    expect((await acknowledge({ alert_ids: [oldest?.id] })).body).toEqual({
      acknowledged: [],
      not_open: [oldest?.id],
    })
  })

  it('are acknowledged by what the log says: a refold knows it too', async () => {
    const [newest] = await open()
    await acknowledge({ alert_ids: [newest?.id] })
    const records = await server.log.read({ types: ['system.alerts_acknowledged'], order: 'asc', limit: 10 })
    expect(records.map(({ payload }) => JSON.parse(payload) as object)).toEqual([
      { acknowledged_by: server.engine.nodeId, alert_ids: [newest?.id] },
    ])
  })

  it.each([[{}], [{ alert_ids: [] }], [{ alert_ids: Array(501).fill('x') }], [{ alert_ids: [1] }]])(
    'need ids: %#',
    async (json) => {
      expect((await acknowledge(json)).status).toBe(422)
    },
  )

  it('are read and acknowledged by agents, in two steps', async () => {
    const call = async (name: string, args: object) => resultOf(await callersOf(server).tool(name, args))
    const { value } = await call('get_alerts', {})
    expect(value).toEqual({ open: await open() })
    const alert_ids = (await open()).map(({ id }) => id)
    const asked = await call('acknowledge_alerts', { alert_ids })
    expect(await open()).toHaveLength(2)
    const { confirm } = asked.structuredContent
    expect(await call('acknowledge_alerts', { alert_ids, confirm })).toMatchObject({
      value: { status: 'done' },
    })
    expect(await open()).toEqual([])
  })
})
