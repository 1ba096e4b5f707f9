import { afterEach, describe, expect, it } from 'vitest'
import type { IntegrityReport } from '../../../engine/integrity/report.ts'
import type { VerifyProgress } from '../../../engine/integrity/verify.ts'
import type { IntegrityCheck } from '../dependencies.ts'
import { startTestServer, TOKEN, type TestServer } from '../test-server.fixture.ts'

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

const jobOf = async (query: string): Promise<unknown> =>
  (await server.call('GET', `/integrity/progress${query}`)).body['job']

/** Verifications that the test ends, by mode and number of events. */
const heldVerifications = () => {
  const finish = new Map<string, () => void>()
  let onProgress: ((progress: VerifyProgress) => void) | undefined
  const integrity: IntegrityCheck = {
    verify: ({ mode, n }, listener) => {
      onProgress = listener
      return new Promise((resolve) => finish.set(`${mode}:${n}`, () => resolve(report(true, mode))))
    },
  }
  return { integrity, finish, report: (progress: VerifyProgress) => onProgress?.(progress) }
}

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

  it('shares one full verification among all who ask, and checks few events meanwhile', async () => {
    const { integrity, finish } = heldVerifications()
    server = await startTestServer({ dependencies: { integrity } })
    const full = [1, 2, 3].map(() => server.call('GET', '/integrity?mode=full'))
    await expect.poll(() => finish.size).toBe(1)
    const few = server.call('GET', '/integrity?n=5')
    await expect.poll(() => [...finish.keys()]).toEqual(['full:100', 'fast:5'])
    finish.get('fast:5')?.()
    expect((await few).body).toMatchObject({ ok: true, mode: 'fast' })
    finish.get('full:100')?.()
    for (const { status, body } of await Promise.all(full)) expect([status, body['ok']]).toEqual([200, true])
    finish.clear()
    const again = server.call('GET', '/integrity?mode=full')
    await expect.poll(() => finish.size).toBe(1)
    finish.get('full:100')?.()
    expect((await again).status).toBe(200)
  })

  it('runs one job at a time, however many are asked for', async () => {
    const { integrity, finish } = heldVerifications()
    server = await startTestServer({ dependencies: { integrity } })
    const full = server.call('GET', '/integrity?mode=full')
    await expect.poll(() => finish.size).toBe(1)
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, index) => server.call('GET', `/integrity?n=${2000 + index}`)),
    )
    expect((await full).status).toBe(202)
    // All callers wait for one job, which checks the largest number requested.
    const ids = new Set(many.map(({ body }) => (body['job'] as { id: string }).id))
    expect([ids.size, finish.size]).toEqual([1, 1])
    finish.get('full:100')?.()
    await expect.poll(() => [...finish.keys()]).toEqual(['full:100', 'fast:2039'])
    finish.get('fast:2039')?.()
    const [id] = ids
    await expect.poll(() => jobOf(`?job=${id}`)).toMatchObject({ status: 'done', n: 2039, mode: 'fast' })
  })

  it('checks few events once at a time, and once more for all who asked meanwhile', async () => {
    const { integrity, finish } = heldVerifications()
    server = await startTestServer({ dependencies: { integrity } })
    const first = server.call('GET', '/integrity?n=500')
    await expect.poll(() => [...finish.keys()]).toEqual(['fast:500'])
    // Callers that request no more than the running check share it. All others wait for one further check.
    const many = Array.from({ length: 40 }, (_, index) => server.call('GET', `/integrity?n=${481 + index}`))
    const asked = server.call('GET', '/kill-switch')
    expect((await asked).status).toBe(200)
    expect([...finish.keys()]).toEqual(['fast:500'])
    finish.get('fast:500')?.()
    await expect.poll(() => [...finish.keys()]).toEqual(['fast:500', 'fast:520'])
    finish.get('fast:520')?.()
    for (const { status } of [await first, ...(await Promise.all(many))]) expect(status).toBe(200)
    expect(finish.size).toBe(2)
  })

  it('answers with a job after a second, without a time-out, and the job has the report', async () => {
    const { integrity, finish, report: reportProgress } = heldVerifications()
    server = await startTestServer({ dependencies: { integrity }, limits: { handlerTimeoutMs: 50 } })
    const { status, body, headers } = await server.call('GET', '/integrity?mode=full')
    const { id } = body['job'] as { id: string }
    expect([status, headers.get('location'), headers.get('retry-after')]).toEqual([
      202,
      `/api/v1/integrity/progress?job=${id}`,
      '1',
    ])
    expect(body['job']).toMatchObject({ mode: 'full', n: null, status: 'running', report: null })
    // Other requests are answered meanwhile.
    expect((await server.call('GET', '/kill-switch')).status).toBe(200)
    reportProgress({ step: 'signatures', checked: 3, total: 7 })
    const progress = { step: 'signatures', checked: 3, total: 7 }
    expect((await server.call('GET', '/integrity/progress')).body).toMatchObject({ progress, job: { id } })
    const stream = fetch(`${server.baseUrl}/integrity/stream?job=${id}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect((await stream).headers.get('content-type')).toBe('text/event-stream')
    finish.get('full:100')?.()
    const messages = (await (await stream).text()).trim().split('\n\n')
    expect(messages[0]).toContain('event: verification\ndata: {"job":{')
    expect(JSON.parse(messages.at(-1)?.split('data: ')[1] ?? '')).toMatchObject({
      job: { id, status: 'done', progress: null, report: { ok: true, mode: 'full' } },
    })
    expect(await jobOf(`?job=${id}`)).toMatchObject({ status: 'done', report: { ok: true } })
    expect((await server.call('GET', '/integrity/progress')).body).toEqual({ progress: null, job: null })
    expect((await server.call('GET', '/integrity/stream')).text).toBe(
      'event: verification\ndata: {"job":null}\n\n',
    )
  })

  it('turns a check of few events into a job where even that takes long', async () => {
    const { integrity, finish } = heldVerifications()
    server = await startTestServer({ dependencies: { integrity } })
    const { status, body } = await server.call('GET', '/integrity?n=5')
    expect([status, body['job']]).toMatchObject([202, { mode: 'fast', n: 5 }])
    for (const end of finish.values()) end()
  })

  it('does not know every job', async () => {
    server = await startTestServer()
    for (const path of ['/integrity/progress?job=x', '/integrity/stream?job=x']) {
      const { status, body } = await server.call('GET', path)
      expect([status, body['code']], path).toEqual([404, 'verification.not_found'])
    }
  })

  it('ends streams of progress when the service stops', async () => {
    const { integrity, finish } = heldVerifications()
    server = await startTestServer({ dependencies: { integrity } })
    const asked = server.call('GET', '/integrity?mode=full')
    await expect.poll(() => finish.size).toBe(1)
    const stream = await fetch(`${server.baseUrl}/integrity/stream`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect((await asked).status).toBe(202)
    await server.server.close()
    expect(await stream.text()).toMatch(/^event: verification/)
    finish.get('full:100')?.()
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
    // The newest events show nothing about an older fault.
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
