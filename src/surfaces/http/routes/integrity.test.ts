import { afterEach, describe, expect, it } from 'vitest'
import type { IntegrityReport } from '../../../engine/integrity/report.ts'
import type { IntegrityCheck } from '../dependencies.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
afterEach(() => server.close())

const report = (ok: boolean, mode: 'fast' | 'full'): IntegrityReport => ({
  ok,
  mode,
  checked: 1,
  event_count: 1,
  first_bad_id: null,
  first_bad_seq: ok ? null : 1,
  reason: ok ? null : 'hash',
  head_seq: 1,
  head_hash: 'x',
  elapsed_ms: 4,
  checks: { hash_chain: 'pass', sequence: 'pass', signatures: 'pass', checkpoint: 'pass' },
  detail: '',
})

describe('GET /integrity', () => {
  it('verifies the newest events, or all', async () => {
    server = await startTestServer()
    for (let level = 1; level <= 3; level += 1) {
      await server.call('POST', '/kill-switch', { json: { level, reason: 'x' } })
    }
    const { seq, hash } = await server.log.head()
    const fast = await server.call('GET', '/integrity?n=2')
    expect(fast.body).toEqual({
      ok: true,
      mode: 'fast',
      checked: 2,
      event_count: seq,
      first_bad_id: null,
      first_bad_seq: null,
      reason: null,
      head_seq: seq,
      head_hash: hash,
      elapsed_ms: 0,
    })
    expect((await server.call('GET', '/integrity')).body).toMatchObject({ mode: 'fast', checked: seq })
    expect((await server.call('GET', '/integrity?mode=full&n=1')).body).toMatchObject({
      mode: 'full',
      checked: seq,
    })
  })

  it('refuses other modes and numbers', async () => {
    server = await startTestServer()
    for (const query of ['mode=deep', 'n=0', 'n=100001', 'n=x']) {
      expect((await server.call('GET', `/integrity?${query}`)).status, query).toBe(422)
    }
    expect((await server.call('GET', '/integrity?n=100000')).status).toBe(200)
  })

  it('runs one full verification at a time, and lets others join it', async () => {
    const finish: (() => void)[] = []
    const integrity: IntegrityCheck = {
      verify: ({ mode }) => new Promise((resolve) => finish.push(() => resolve(report(true, mode)))),
    }
    server = await startTestServer({ dependencies: { integrity }, limits: { handlerTimeoutMs: 50 } })
    const full = [1, 2, 3].map(() => server.call('GET', '/integrity?mode=full'))
    await expect.poll(() => finish.length).toBe(1)
    // Only the whole log may take longer than other requests.
    expect((await server.call('GET', '/integrity?n=5')).body['code']).toBe('server.timeout')
    expect(finish).toHaveLength(2)
    for (const end of finish.splice(0)) end()
    for (const { status, body } of await Promise.all(full)) expect([status, body['ok']]).toEqual([200, true])
    const again = server.call('GET', '/integrity?mode=full')
    await expect.poll(() => finish.length).toBe(1)
    for (const end of finish) end()
    expect((await again).status).toBe(200)
  })

  it('tells how far a verification of all is', async () => {
    let finish = (): void => undefined
    const integrity: IntegrityCheck = {
      verify: ({ mode }, onProgress) => {
        onProgress?.({ step: 'signatures', checked: 3, total: 7 })
        return new Promise((resolve) => {
          finish = () => resolve(report(true, mode))
        })
      },
    }
    server = await startTestServer({ dependencies: { integrity } })
    const progress = async () => (await server.call('GET', '/integrity/progress')).body['progress']
    expect(await progress()).toBeNull()
    const full = server.call('GET', '/integrity?mode=full')
    await expect.poll(progress).toEqual({ step: 'signatures', checked: 3, total: 7 })
    finish()
    expect((await full).status).toBe(200)
    expect(await progress()).toBeNull()
  })

  it('is remembered by the metrics', async () => {
    let isOk = false
    const integrity: IntegrityCheck = { verify: ({ mode }) => Promise.resolve(report(isOk, mode)) }
    server = await startTestServer({ dependencies: { integrity } })
    const chainOk = async () =>
      /^svc_chain_ok (\d)/m.exec((await server.callRoot('GET', '/metrics')).text)?.[1]
    expect(await chainOk()).toBe('1')
    expect((await server.call('GET', '/integrity')).body).toMatchObject({ ok: false, reason: 'hash' })
    expect(await chainOk()).toBe('0')
    isOk = true
    await server.call('GET', '/integrity')
    // The newest events say nothing about an older fault.
    expect(await chainOk()).toBe('0')
    await server.call('GET', '/integrity?mode=full')
    expect(await chainOk()).toBe('1')
  })

  it('tells of a verification that could not be done, and tries again', async () => {
    let isBroken = true
    const integrity: IntegrityCheck = {
      verify: ({ mode }) =>
        isBroken ? Promise.reject(new Error('a thread was lost')) : Promise.resolve(report(true, mode)),
    }
    server = await startTestServer({ dependencies: { integrity } })
    expect((await server.call('GET', '/integrity?mode=full')).status).toBe(500)
    isBroken = false
    expect((await server.call('GET', '/integrity?mode=full')).status).toBe(200)
  })
})
