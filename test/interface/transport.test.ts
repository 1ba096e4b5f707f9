import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { editStore } from './edit-store.ts'
import { rawCall } from './raw-call.ts'
import { cleanUp, newHome, startService, svc, TOKEN, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

const NO_TOKEN = { authorization: '' }

onDefaultStore('health, authentication and transport', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
  })

  it('health is public, exact, and its uptime grows', async () => {
    const first = await service.call('GET', '/health', { headers: NO_TOKEN })
    expect(first.status).toBe(200)
    expect(Object.keys(first.body).sort()).toEqual(['db_size_bytes', 'uptime_seconds', 'version'])
    await sleep(1000)
    const second = await service.call('GET', '/health', { headers: { authorization: 'Bearer wrong' } })
    expect(second.status).toBe(200)
    expect((second.body as { uptime_seconds: number }).uptime_seconds).toBeGreaterThan(
      (first.body as { uptime_seconds: number }).uptime_seconds,
    )
  })

  it.each([
    ['', 'auth.missing_token'],
    ['Basic abc', 'auth.invalid_header'],
    ['Bearer', 'auth.invalid_header'],
    ['Bearer wrong', 'auth.invalid_token'],
  ])('"%s" is %s', async (authorization, code) => {
    const answer = await service.call('GET', '/brain/status', { headers: { authorization } })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect(Object.keys(answer.body).sort()).toEqual(['code', 'detail', 'request_id', 'status', 'title'])
    expect(answer.body).toMatchObject({ code })
  })

  it('the scheme may be written in any case', async () => {
    const answer = await service.call('GET', '/brain/status', {
      headers: { authorization: `bearer ${TOKEN}` },
    })
    expect(answer.status).toBe(200)
  })

  it('every protected endpoint shows nothing but 401 without a token', async () => {
    const { paths } = (await service.call('GET', '//openapi.json')).body as {
      paths: Readonly<Record<string, Readonly<Record<string, { security?: readonly object[] }>>>>
    }
    const asked = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security?.length !== 0)
        .map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'none')}`),
    )
    for (const known of ['/signals', '/events/stream', '/config', '/events', '/positions/none'])
      expect(asked).toContain(`GET /api/v1${known}`)
    expect(asked).toEqual(expect.arrayContaining(['POST /api/v1/mcp', 'GET /metrics']))
    for (const endpoint of asked) {
      const [method = '', path] = endpoint.split(' ')
      const request = method === 'GET' ? {} : { body: '{' }
      const answer = await service.call(method, `/${path}`, { ...request, headers: NO_TOKEN })
      expect(answer.body, endpoint).toMatchObject({ status: 401, code: 'auth.missing_token' })
    }
  })

  it('the documentation and the oracle are public', async () => {
    for (const path of ['/oracle/producers/x/provenance', '//openapi.json', '//docs']) {
      expect((await service.call('GET', path, { headers: NO_TOKEN })).status).toBe(200)
    }
  })

  it('unknown paths and methods', async () => {
    expect((await service.call('GET', '/no-such-path')).body).toMatchObject({
      status: 404,
      code: 'route.not_found',
    })
    const answer = await service.call('PUT', '/signals', { body: {} })
    expect(answer.body).toMatchObject({ status: 405, code: 'route.method_not_allowed' })
    expect(answer.headers.get('allow')).toContain('GET')
  })

  it('a trailing slash changes nothing', async () => {
    const [plain, slashed] = [
      await service.call('GET', '/contributors'),
      await service.call('GET', '/contributors/'),
    ]
    expect(slashed.status).toBe(200)
    expect(slashed.text).toBe(plain.text)
  })

  it('without configured origins there is no CORS', async () => {
    const answer = await service.call('GET', '/health', { headers: { origin: 'https://a.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect((await service.call('OPTIONS', '/health')).status).toBe(405)
  })

  it('300 quick reads are all answered', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => service.call('GET', '/brain/status')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('bad bodies', async () => {
    const post = (body: string, contentType = 'application/json') =>
      service.call('POST', '/signals/submit', { body, headers: { 'content-type': contentType } })
    expect((await service.call('POST', '/signals/submit', { body: '{', headers: NO_TOKEN })).status).toBe(401)
    expect((await post('{')).body).toMatchObject({ status: 400, code: 'request.malformed_json' })
    expect((await post('{"payload":{},"payload":{},"node_id":"x"}')).body).toMatchObject({
      code: 'request.malformed_json',
    })
    expect((await post(`"${'x'.repeat(2 * 1024 * 1024)}"`)).body).toMatchObject({
      status: 413,
      code: 'request.too_large',
    })
    expect((await post('{}', 'text/plain')).body).toMatchObject({ status: 415 })
    expect((await post(`${'['.repeat(500)}${']'.repeat(500)}`)).status).toBe(422)
    expect((await post('{"payload":{"conviction":1e999}}')).body).toMatchObject({
      status: 422,
      code: 'request.invalid',
    })
  })

  it('bytes that are no UTF-8 are malformed', async () => {
    const headers = { 'content-type': 'application/json' }
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])
    const { status } = await rawCall(service, '/signals/submit', headers, bytes)
    expect(status).toBe(400)
  })

  it('every answer has a request id; a valid one is echoed', async () => {
    const headers = { 'x-request-id': 'my-request.1' }
    const answer = await service.call('GET', '/no-such-path', { headers })
    expect(answer.headers.get('x-request-id')).toBe('my-request.1')
    expect(answer.body).toMatchObject({ request_id: 'my-request.1' })
    expect(
      (await service.call('GET', '/health', { headers: { 'x-request-id': 'not valid!' } })).headers.get(
        'x-request-id',
      ),
    ).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('the token appears nowhere in the output, not even as the name of a request', async () => {
    const chatty = await startService(await newHome(), { ...(await store()), SVC_LOGGING__LEVEL: 'DEBUG' })
    await chatty.call('GET', '/config')
    await chatty.call('GET', `/no-such-path?token=${TOKEN}`, { headers: { 'x-request-id': TOKEN } })
    await chatty.call('GET', '/events', { headers: { authorization: 'Bearer wrong-token' } })
    expect(await chatty.stop()).toBe(0)
    expect(chatty.output()).not.toContain(TOKEN)
    expect(chatty.output()).toContain('***REDACTED***')
  })

  it('a fault inside is 500 and shows nothing of itself', async () => {
    const home = await newHome()
    const variables = await store()
    const broken = await startService(home, variables)
    await editStore(home, variables, 'ALTER TABLE events RENAME TO hidden')
    const { status, body, text } = await broken.call('GET', '/events')
    expect(status).toBe(500)
    expect(Object.keys(body).sort()).toEqual(['code', 'detail', 'request_id', 'status', 'title'])
    expect(body).toMatchObject({ code: 'internal.error' })
    expect(text).not.toMatch(/events|table|relation|\.js|\.ts|stack|at .*\(/i)
    await broken.stop()
  })
})

onDefaultStore('the start', (store) => {
  it('without a token but with SVC_INSECURE_OK lets everybody in', async () => {
    const service = await startService(await newHome(), {
      ...(await store()),
      SVC_API__AUTH_TOKEN: '',
      SVC_INSECURE_OK: '1',
    })
    expect((await service.call('GET', '/signals', { headers: NO_TOKEN })).status).toBe(200)
    await service.stop()
  })

  it('with only a token runs, saves no identity, and signs', async () => {
    const home = await newHome()
    const service = await startService(home, await store())
    const { items } = (await service.call('GET', '/events')).body as {
      items: { signature: string; signer: string; payload: object }[]
    }
    expect(items[0]?.signature).toMatch(/^[0-9a-f]{128}$/)
    expect(items.at(-1)?.payload).toMatchObject({ ephemeral: true })
    expect(existsSync(join(home, 'identity', 'identity.json'))).toBe(false)
    await service.stop()
  })
})

// Refused before any store is opened.
describe('the start', () => {
  afterAll(cleanUp)

  it('is refused without a token, and no port is opened', async () => {
    const ended = await svc(await newHome(), ['serve', '--port', '0'])
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr).toContain('SECURITY ERROR: API auth token is empty')
    for (const name of ['api.auth_token', 'SVC_API__AUTH_TOKEN', 'SVC_INSECURE_OK'])
      expect(ended.stderr).toContain(name)
    expect(ended.stdout).not.toContain('listening')
  })

  it('with a fault in the configuration names each key', async () => {
    const ended = await svc(await newHome(), ['serve'], {
      SVC_API__AUTH_TOKEN: TOKEN,
      SVC_API__PORT: 'many',
      SVC_RISK__MAX_LEVERAGE: '-1',
    })
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr).toContain('api.port')
    expect(ended.stderr).toContain('risk.max_leverage')
  })
})
