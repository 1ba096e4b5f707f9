import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OPERATOR_TOKEN, TOKEN } from '../http/test-server.fixture.ts'
import { APP_HTML, form, json, startTestDashboard, type TestDashboard } from './dashboard.fixture.ts'

let dashboard: TestDashboard
beforeEach(async () => {
  dashboard = await startTestDashboard()
})
afterEach(() => dashboard.close())

describe('sign-in', () => {
  it('shows the form without a session and the app with one', async () => {
    const { status, text } = await dashboard.ask('GET', '/')
    expect([status, text]).toEqual([200, expect.stringContaining('action="/login"')])
    const cookie = await dashboard.signIn()
    expect((await dashboard.ask('GET', '/', { headers: { cookie } })).text).toBe(APP_HTML)
  })

  it('sets a cookie that scripts and other sites cannot use, for 12 hours', async () => {
    const { status, headers } = await dashboard.ask(
      'POST',
      '/login',
      form({ token: TOKEN, next: '/signals' }),
    )
    expect([status, headers['location']]).toEqual([303, '/signals'])
    const cookie = String(headers['set-cookie'])
    expect(cookie).toMatch(/^svc_session=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    expect(cookie).not.toContain(TOKEN)
    expect(Buffer.from(cookie.split(/[=;]/)[1] ?? '', 'base64url').toString('latin1')).not.toContain(TOKEN)
  })

  it('makes it Secure behind TLS', async () => {
    const { headers } = await dashboard.ask(
      'POST',
      '/login',
      form({ token: TOKEN }, { 'x-forwarded-proto': 'https' }),
    )
    expect(String(headers['set-cookie'])).toMatch(/; Secure$/)
  })

  it('reports a wrong token, and sets no cookie', async () => {
    for (const token of ['wrong', '', ' ', 'two\nlines', 'x\0']) {
      const { status, headers, text } = await dashboard.ask('POST', '/login', form({ token, next: '/risk' }))
      expect(status).toBe(401)
      expect(headers['set-cookie']).toBeUndefined()
      expect(text).toContain('role="alert">This is not the API token')
      expect(text).toContain('value="/risk"')
    }
  })

  it('accepts JSON', async () => {
    const good = await dashboard.ask('POST', '/login', json({ token: TOKEN }))
    expect([good.status, JSON.parse(good.text)]).toEqual([200, { ok: true }])
    const bad = await dashboard.ask('POST', '/login', json({ token: 'x' }))
    expect(JSON.parse(bad.text)).toMatchObject({ status: 401, code: 'auth.invalid_token' })
    const none = await dashboard.ask('POST', '/login', json([]))
    expect(none.status).toBe(401)
  })

  it('reads a token with spaces around it, and a type with parameters', async () => {
    for (const { body, headers } of [form({ token: ` ${TOKEN} ` }), json({ token: `\n${TOKEN} ` })]) {
      const type = `${headers?.['content-type']?.toUpperCase()} ; charset=utf-8`
      const sent = { body: body ?? '', headers: { 'content-type': type } }
      expect((await dashboard.ask('POST', '/login', sent)).headers).toHaveProperty('set-cookie')
    }
    for (const token of [1, null, [TOKEN]])
      expect((await dashboard.ask('POST', '/login', json({ token }))).status).toBe(401)
    expect((await dashboard.ask('POST', '/login', json(null))).status).toBe(401)
  })

  it('refuses other content types', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, {}])
      expect((await dashboard.ask('POST', '/login', { headers, body: TOKEN })).status).toBe(415)
    expect((await dashboard.ask('POST', '/login', { ...json({}), body: '{' })).status).toBe(400)
    expect((await dashboard.ask('POST', '/login', form({ token: 'x'.repeat(9000) }))).status).toBe(413)
  })

  it('refuses forms of other sites', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
    ]) {
      const refused = await dashboard.ask('POST', '/login', form({ token: TOKEN }, headers))
      expect(JSON.parse(refused.text)).toMatchObject({ status: 403, code: 'dashboard.origin_denied' })
      expect(refused.headers['set-cookie']).toBeUndefined()
      expect((await dashboard.ask('POST', '/logout', { headers })).status).toBe(403)
    }
    const own = form({ token: TOKEN }, { origin: `http://${dashboard.host}` })
    expect((await dashboard.ask('POST', '/login', own)).status).toBe(303)
  })

  it('redirects only to its own pages', async () => {
    for (const next of [
      '//evil.example',
      'https://evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
      '/a"b',
      '/login',
      '/login?next=/',
      'signals',
      '/signals\n',
    ]) {
      const { headers } = await dashboard.ask('POST', '/login', form({ token: TOKEN, next }))
      expect(headers['location']).toBe('/')
    }
  })

  it('slows down guessing, from one address, for a minute', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await dashboard.ask('POST', '/login', form({ token: `guess ${attempt}` }))).status).toBe(401)
    }
    const late = await dashboard.ask('POST', '/login', form({ token: TOKEN }))
    expect([late.status, late.headers['retry-after'], late.headers['set-cookie']]).toEqual([
      429,
      '60',
      undefined,
    ])
    const asJson = await dashboard.ask('POST', '/login', json({ token: TOKEN }))
    expect(JSON.parse(asJson.text)).toMatchObject({ code: 'rate.limited' })
    dashboard.api.testClock.advance(60_000)
    expect((await dashboard.ask('POST', '/login', form({ token: TOKEN }))).status).toBe(303)
  })

  it('ends after 12 hours, and with a sign-out', async () => {
    const cookie = await dashboard.signIn()
    const session = async (sent: string) =>
      JSON.parse((await dashboard.ask('GET', '/session', { headers: { cookie: sent } })).text) as object
    expect(await session(cookie)).toMatchObject({ signed_in: true, sign_in_needed: true })
    const { status, headers } = await dashboard.ask('POST', '/logout', { headers: { cookie } })
    expect([status, headers['location']]).toEqual([303, '/'])
    const back = await dashboard.ask('POST', `/logout?next=${encodeURIComponent('/audit?type=a')}`)
    expect(back.headers['location']).toBe('/audit?type=a')
    const away = await dashboard.ask('POST', '/logout?next=//evil.example')
    expect(away.headers['location']).toBe('/')
    expect(String(headers['set-cookie'])).toContain(
      'svc_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    )
    dashboard.api.testClock.advance(12 * 3_600_000)
    expect(await session(cookie)).toEqual({ signed_in: false, sign_in_needed: true, expires_at: null })
    expect(await session('svc_session=made-up; other=1')).toMatchObject({ signed_in: false })
    expect(await session(`${cookie.slice(0, -4)}AAAA`)).toMatchObject({ signed_in: false })
  })

  it('returns to the requested page, and explains why it asks', async () => {
    const page = '/audit?type=signal.ta&from=2026-02-20T00%3A00%3A00Z&about=trace%3Aa+b'
    const asked = async (headers = {}) => (await dashboard.ask('GET', page, { headers })).text
    expect(await asked()).toContain(`value="${page.replaceAll('&', '&amp;')}"`)
    expect(await asked()).not.toContain('role="alert"')
    expect(await asked({ cookie: 'svc_session=made-up' })).toContain('role="alert">The session is over')
    const { headers } = await dashboard.ask('POST', '/login', form({ token: TOKEN, next: page }))
    expect(headers['location']).toBe(page)
  })

  it('survives a restart with the same secret only', async () => {
    const sessionSecret = new Uint8Array(32).fill(7)
    const before = await startTestDashboard({ sessionSecret })
    const cookie = await before.signIn()
    await before.close()
    const after = await startTestDashboard({ sessionSecret })
    expect((await after.ask('GET', '/api/v1/brain/status', { headers: { cookie } })).status).toBe(200)
    expect((await dashboard.ask('GET', '/api/v1/brain/status', { headers: { cookie } })).status).toBe(401)
    // The start of a cookie identifies the key that sealed it.
    expect((await after.signIn()).slice(0, 33)).not.toBe(cookie.slice(0, 33))
    await after.close()
  })

  it('reports an unreachable API', async () => {
    const alone = await startTestDashboard({ apiUrl: 'http://127.0.0.1:1/api/v1' })
    // A guess that the API could not check is no wrong token.
    for (let time = 0; time < 11; time += 1) {
      const { status, text } = await alone.ask('POST', '/login', form({ token: TOKEN }))
      expect([status, text]).toEqual([502, expect.stringContaining('The API does not answer')])
    }
    await alone.close()
  })
})

describe('the form', () => {
  it('is read up to its limit, and refused beyond', async () => {
    const small = await startTestDashboard({ limits: { formBytesMax: `token=${TOKEN}`.length } })
    expect((await small.ask('POST', '/login', form({ token: TOKEN }))).status).toBe(303)
    expect((await small.ask('POST', '/login', form({ token: `${TOKEN}!` }))).status).toBe(413)
    await small.close()
  })
})

describe('insecure mode', () => {
  it('needs no sign-in, but a known host', async () => {
    const open = await startTestDashboard({
      api: { settings: { api: { auth_token: '' } }, insecureOk: true },
    })
    expect((await open.ask('GET', '/')).text).toBe(APP_HTML)
    expect((await open.ask('GET', '/api/v1/signals')).status).toBe(200)
    const session = await open.ask('GET', '/session')
    expect(JSON.parse(session.text)).toEqual({ signed_in: true, sign_in_needed: false, expires_at: null })
    expect((await open.ask('GET', '/api/v1/signals', { headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await open.ask('GET', '/api/v1/signals', { headers: { host: 'localhost:1' } })).status).toBe(200)
    // Behind a proxy under another name: the browser knows better than the two headers.
    const proxied = { origin: 'https://trading.example', 'sec-fetch-site': 'same-origin' }
    expect((await open.ask('GET', '/api/v1/signals', { headers: proxied })).status).toBe(200)
    await open.close()
  })

  it('is none while there is a token', async () => {
    const guarded = await startTestDashboard({ api: { insecureOk: true } })
    expect((await guarded.ask('GET', '/api/v1/signals')).status).toBe(401)
    expect((await guarded.ask('GET', '/healthz', { headers: { host: 'evil.example' } })).status).toBe(200)
    await guarded.close()
  })

  it('refuses foreign hosts and pages on every route', async () => {
    const open = await startTestDashboard({
      api: { settings: { api: { auth_token: '' } }, insecureOk: true },
    })
    const routes = [
      ['GET', '/'],
      ['GET', '/assets/app-1a2b.js'],
      ['GET', '/healthz'],
      ['GET', '/session'],
      ['GET', '/login'],
      ['POST', '/login'],
      ['POST', '/logout'],
      ['GET', '/api/v1/signals'],
      ['GET', '/api/v1/events/stream'],
      ['POST', '/api/v1/mcp'],
      ['POST', '/api/v1/kill-switch'],
    ] as const
    const foreign = [
      [{ host: 'evil.example' }, 'request.host_denied'],
      [{ host: 'localhost.evil.example:5051' }, 'request.host_denied'],
      [{ origin: 'https://evil.example' }, 'dashboard.origin_denied'],
      [{ origin: 'null' }, 'dashboard.origin_denied'],
      [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 'dashboard.origin_denied'],
    ] as const
    for (const [method, path] of routes) {
      for (const [headers, code] of foreign) {
        const { status, text } = await open.ask(method, path, { headers })
        expect([status, JSON.parse(text)], `${method} ${path} ${code}`).toMatchObject([403, { code }])
      }
    }
    await open.close()
  })
})

describe('signing in with the operator token', () => {
  it('gives the rights of the API token, and asks for the operator token at each action', async () => {
    const guarded = await startTestDashboard({
      api: { settings: { api: { operator_token: OPERATOR_TOKEN } } },
    })
    const cookie = await guarded.signIn(OPERATOR_TOKEN)
    const move = async (level: number, headers = {}) =>
      (
        await guarded.ask('POST', '/api/v1/kill-switch', {
          ...json({ level, reason: 'x' }, { cookie, 'sec-fetch-site': 'same-origin', ...headers }),
        })
      ).status
    expect((await guarded.ask('GET', '/api/v1/signals', { headers: { cookie } })).status).toBe(200)
    expect(await move(2)).toBe(200)
    expect(await move(1)).toBe(403)
    expect(await move(1, { 'x-operator-token': `${OPERATOR_TOKEN}%0a` })).toBe(401)
    expect(await move(1, { 'x-operator-token': OPERATOR_TOKEN })).toBe(200)
    // The server does not keep the operator token after this action either.
    expect(await move(0)).toBe(403)
    await guarded.close()
  })
})

describe('signing in with an access key', () => {
  it('says that a key without the scope read cannot be used here', async () => {
    const guarded = await startTestDashboard({
      api: { settings: { api: { operator_token: OPERATOR_TOKEN } } },
    })
    const created = await guarded.api.call('POST', '/access-keys', {
      token: OPERATOR_TOKEN,
      json: { name: 'sender', scopes: ['submit'] },
    })
    const { secret } = created.body as { secret: string }
    const { status, headers, text } = await guarded.ask('POST', '/login', form({ token: secret }))
    expect([status, text]).toEqual([403, expect.stringContaining('it needs the scope read')])
    expect(headers['set-cookie']).toBeUndefined()
    await guarded.close()
  })

  it('lets in a caller whom the rate limit of the API asks to wait', async () => {
    const limited = await startTestDashboard({ api: { settings: { api: { rate_limit_per_minute: 1 } } } })
    await limited.api.call('GET', '/kill-switch')
    expect((await limited.ask('POST', '/login', json({ token: TOKEN }))).status).toBe(200)
    expect((await limited.ask('POST', '/login', json({ token: 'wrong' }))).status).toBe(401)
    await limited.close()
  })
})

describe('signing in with an access key that operates', () => {
  it('asks for the key, or the operator token, at each operator action', async () => {
    const guarded = await startTestDashboard({
      api: { settings: { api: { operator_token: OPERATOR_TOKEN } } },
    })
    const created = await guarded.api.call('POST', '/access-keys', {
      token: OPERATOR_TOKEN,
      json: { name: 'desk', scopes: ['read', 'operate'] },
    })
    const { secret } = created.body as { secret: string }
    const cookie = await guarded.signIn(secret)
    const move = async (level: number, headers = {}) => {
      const answer = await guarded.ask('POST', '/api/v1/kill-switch', {
        ...json({ level, reason: 'x' }, { cookie, 'sec-fetch-site': 'same-origin', ...headers }),
      })
      return [answer.status, (JSON.parse(answer.text) as { code?: string }).code]
    }
    expect((await guarded.ask('GET', '/api/v1/signals', { headers: { cookie } })).status).toBe(200)
    expect(await move(2)).toEqual([200, undefined])
    expect(await move(1)).toEqual([403, 'auth.forbidden'])
    const close = await guarded.ask('POST', '/api/v1/positions/close-all', {
      ...json({}, { cookie, 'sec-fetch-site': 'same-origin' }),
    })
    expect([close.status, (JSON.parse(close.text) as { code: string }).code]).toEqual([403, 'auth.forbidden'])
    expect(await move(1, { 'x-operator-token': secret })).toEqual([200, undefined])
    expect(await move(0)).toEqual([403, 'auth.forbidden'])
    await guarded.close()
  })
})

describe('signing out', () => {
  const sessionFor = async (on: TestDashboard, cookie: string): Promise<boolean> =>
    (JSON.parse((await on.ask('GET', '/session', { headers: { cookie } })).text) as { signed_in: boolean })
      .signed_in

  it('ends the session for every copy of its cookie, and no other', async () => {
    const cookie = await dashboard.signIn()
    const other = await dashboard.signIn()
    await dashboard.ask('POST', '/logout', { headers: { cookie } })
    const [name = '', value = ''] = cookie.split('=')
    const padded = `${name}=${value}%3D`
    // Another base64 spelling of the same bytes.
    const respelled = `${name}=${Buffer.from(value, 'base64url').toString('base64').replaceAll('=', '')}`
    for (const copy of [cookie, padded, respelled]) {
      expect(await sessionFor(dashboard, copy), copy).toBe(false)
      expect((await dashboard.ask('GET', '/api/v1/signals', { headers: { cookie: copy } })).status).toBe(401)
    }
    expect(await sessionFor(dashboard, other)).toBe(true)
  })

  it('ends its event streams', async () => {
    const cookie = await dashboard.signIn()
    const stream = await fetch(`${dashboard.url}/api/v1/events/stream`, { headers: { cookie } })
    expect(stream.status).toBe(200)
    await dashboard.ask('POST', '/logout', { headers: { cookie } })
    await expect(stream.text()).rejects.toThrow('terminated')
  })

  it('is remembered over a restart, and by other processes of the same home', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-ended-'))
    const options = {
      sessionSecret: new Uint8Array(32).fill(9),
      endedSessionsFile: join(folder, 'data', 'ended-sessions'),
    }
    const first = await startTestDashboard(options)
    const second = await startTestDashboard(options)
    const cookie = await first.signIn()
    expect(await sessionFor(second, cookie)).toBe(true)
    await first.ask('POST', '/logout', { headers: { cookie } })
    expect(await sessionFor(second, cookie)).toBe(false)
    await first.close()
    await second.close()
    const third = await startTestDashboard(options)
    expect(await sessionFor(third, cookie)).toBe(false)
    // Only the hash of a session is stored, readable by the owner only.
    const { mode } = await stat(options.endedSessionsFile)
    expect(mode & 0o777).toBe(0o600)
    expect(await readFile(options.endedSessionsFile, 'utf8')).toMatch(/^[0-9a-f]{64} \d+\n$/)
    await third.close()
    await rm(folder, { recursive: true })
  })
})
