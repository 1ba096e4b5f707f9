import { copyFileSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from './acts.ts'
import { editStore } from './edit-store.ts'
import { cleanUp, newHome, startService, svc } from './service.ts'
import { onEveryStore } from './stores.ts'

onEveryStore('a changed log', (store) => {
  it('is found, starts locked, and says what is wrong', async () => {
    const home = await newHome()
    const variables = await store()
    const before = await startService(home, variables)
    await register(before, 'n1')
    const changedId = await submit(before, 'n1', { rationale: 'x' })
    await before.stop()
    await editStore(
      home,
      variables,
      `UPDATE events SET payload = replace(payload, '"x"', '"y"') WHERE type = 'signal.curator.v1'`,
    )
    const checked = await svc(home, ['integrity', '--json'], variables)
    expect(checked.exitCode).toBe(1)
    const finding = { ok: false, reason: 'hash', first_bad_id: changedId }
    expect(JSON.parse(checked.stdout)).toMatchObject(finding)

    const service = await startService(home, variables)
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({
      level: 3,
      reason: 'integrity_failed',
    })
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject(finding)
    expect((await service.call('GET', '/oracle/producers/n1/provenance')).body).toMatchObject({
      has_provenance: true,
      chain_verified: false,
    })
    expect((await service.call('GET', '//metrics')).text).toContain('svc_chain_ok 0')
    const [started] = await eventsOf(service, 'system.started')
    expect(started?.payload).toMatchObject({ integrity: { ok: false, reason: 'hash' } })
    expect(service.output()).toContain('does not verify')
    await service.stop()
  })
})

describe('a shortened log', () => {
  afterAll(cleanUp)

  it('that lost its end is found by its checkpoint', async () => {
    const home = await newHome()
    const full = await startService(home)
    for (const level of [1, 2, 0]) await full.call('POST', '/kill-switch', { body: { level, reason: 'x' } })
    await full.stop()
    await editStore(home, {}, 'DELETE FROM events WHERE seq > 5')
    const checked = await svc(home, ['integrity', '--json'])
    expect(JSON.parse(checked.stdout)).toMatchObject({ ok: false, reason: 'truncated' })
    const service = await startService(home)
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({ level: 3 })
    await service.stop()
  })

  it('that is an older copy is found, and an operator may accept the loss', async () => {
    const home = await newHome()
    const file = join(home, 'data', 'events.db')
    await (await startService(home)).stop()
    copyFileSync(file, `${file}.old`)
    const service = await startService(home)
    await service.call('POST', '/kill-switch', { body: { level: 1, reason: 'lost' } })
    await service.stop()
    expect(existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0).toBe(false)
    copyFileSync(`${file}.old`, file)
    expect(JSON.parse((await svc(home, ['integrity', '--fast', '--json'])).stdout)).toMatchObject({
      ok: false,
      reason: 'truncated',
    })
    expect((await svc(home, ['integrity', '--accept-loss', '--reason', 'restored a backup'])).exitCode).toBe(
      0,
    )
    const started = await startService(home)
    expect((await started.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await started.stop()
  })
})
