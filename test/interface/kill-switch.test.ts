import { beforeAll, expect, it } from 'vitest'
import { newHome, startProcess, startService, svc, type RunningService, type Variables } from './service.ts'
import { onDefaultStore } from './stores.ts'

interface EventItem {
  readonly type: string
  readonly payload: { readonly reset_by?: string; readonly triggered_by?: string; readonly level?: number }
}

onDefaultStore('the kill switch', (store) => {
  let variables: Variables
  let home: string
  let service: RunningService
  beforeAll(async () => {
    variables = await store()
    home = await newHome()
    service = await startService(home, variables)
  })
  const set = (body: unknown) => service.call('POST', '/kill-switch', { body })
  const eventsOf = async (type: string): Promise<readonly EventItem[]> =>
    ((await service.call('GET', `/events?type=${type}`)).body as { items: readonly EventItem[] }).items

  it('is at level 0 on a fresh server', async () => {
    expect((await service.call('GET', '/kill-switch')).body).toEqual({
      level: 0,
      state: 'normal',
      reason: null,
      changed_at: null,
      changed_by: null,
    })
  })

  it('is raised with an alert and lowered without one', async () => {
    const raised = await set({ level: 2, reason: ' x ' })
    expect(raised.body).toMatchObject({
      level: 2,
      state: 'crisis',
      reason: 'x',
      changed_by: expect.stringMatching(/^svc-[0-9a-f]{16}$/),
    })
    expect((await set({ level: 1, reason: 'y' })).body).toMatchObject({ level: 1, state: 'caution' })
    const [lowering, raise] = await eventsOf('system.kill_switch')
    expect(raise?.payload).toMatchObject({
      level: 2,
      prev_level: 0,
      reason: 'x',
      triggered_by: expect.any(String),
    })
    expect(lowering?.payload).toMatchObject({ level: 1, prev_level: 2, reset_by: expect.any(String) })
    expect(lowering?.payload).not.toHaveProperty('triggered_by')
    expect(await eventsOf('alert')).toHaveLength(1)
  })

  it.each([
    { level: 4, reason: 'x' },
    { level: -1, reason: 'x' },
    { level: '1', reason: 'x' },
    { level: 1.5, reason: 'x' },
    { level: 1, reason: '  ' },
    { level: 1 },
    {},
    [],
  ])('refuses %j with 422 and writes nothing', async (body) => {
    const before = (await eventsOf('system.kill_switch')).length
    expect((await set(body)).body).toMatchObject({ status: 422, code: 'request.invalid' })
    expect(await eventsOf('system.kill_switch')).toHaveLength(before)
  })

  it('the same level again writes nothing', async () => {
    const before = (await eventsOf('system')).length
    expect((await set({ level: 1, reason: 'again' })).status).toBe(200)
    expect(await eventsOf('system')).toHaveLength(before)
  })

  it('what the command line sets, the server sees at once', async () => {
    expect((await svc(home, ['kill-switch', 'set', '3', '--reason', 'by hand'], variables)).exitCode).toBe(0)
    expect((await service.call('POST', '/brain/run')).body).toMatchObject({ status: 423, level: 3 })
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({ level: 3, reason: 'by hand' })
  })

  it('every write leaves its audit event, every denied one too', async () => {
    await service.call('POST', '/kill-switch', { body: {}, headers: { authorization: 'Bearer wrong' } })
    const audits = (await eventsOf('system.audit')).map(({ payload }) => payload)
    expect(audits[0]).toMatchObject({
      resource: '/kill-switch',
      action: 'write',
      outcome: 'denied',
      reason: 'auth.invalid_token',
    })
    expect(audits).toContainEqual(
      expect.objectContaining({ resource: 'cli:kill-switch set', outcome: 'allowed' }),
    )
    expect(audits).toContainEqual(expect.objectContaining({ resource: '/kill-switch', outcome: 'allowed' }))
  })

  it('the level survives kill -9 and a restart', async () => {
    await service.stop()
    const killed = await startProcess(home, variables)
    expect((await killed.call('POST', '/kill-switch', { body: { level: 2, reason: 'x' } })).status).toBe(200)
    expect((await killed.call('POST', '/kill-switch', { body: { level: 3, reason: 'y' } })).status).toBe(200)
    await killed.stop('SIGKILL')
    service = await startService(home, variables)
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({ level: 3 })
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
  })

  it('with an operator token the ordinary one may look and raise, and touch nothing else', async () => {
    const operator = 'operator-token-of-more-than-thirty-two-characters'
    const guarded = await startService(await newHome(), {
      ...(await store()),
      SVC_API__OPERATOR_TOKEN: operator,
    })
    const body = { level: 1, reason: 'x' }
    expect((await guarded.call('GET', '/kill-switch')).status).toBe(200)
    expect((await guarded.call('POST', '/kill-switch', { body: { ...body, level: 2 } })).status).toBe(200)
    const paths = ['/kill-switch', '/config', '/karma/settle']
    for (const path of paths) {
      expect((await guarded.call('POST', path, { body })).body).toMatchObject({
        status: 403,
        code: 'auth.forbidden',
      })
    }
    const headers = { authorization: `Bearer ${operator}` }
    for (const path of paths)
      expect((await guarded.call('POST', path, { body, headers })).status).not.toBe(403)
    expect((await guarded.call('GET', '/kill-switch')).body).toMatchObject({ level: 1 })
    await guarded.stop()
  })
})
