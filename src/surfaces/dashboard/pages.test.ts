import { hash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APP_HTML, startTestDashboard, type TestDashboard } from './dashboard.fixture.ts'
import { loadPages, signInPage, type BuiltPages } from './pages.ts'

let dashboard: TestDashboard
beforeAll(async () => {
  dashboard = await startTestDashboard()
})
afterAll(() => dashboard.close())

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

describe('every response', () => {
  it('carries the security headers and is not cached', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/signals'],
      ['GET', '/healthz'],
      ['GET', '/session'],
      ['GET', '/api/v1/brain/status'],
      ['GET', '/none.js'],
      ['DELETE', '/'],
      ['POST', '/login'],
    ] as const) {
      const { headers } = await dashboard.ask(method, path)
      expect(headers, `${method} ${path}`).toMatchObject({
        'content-security-policy': POLICY,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
        'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
      })
    }
  })
})

describe('pages', () => {
  it('are the app for every path, so that deep links work', async () => {
    const cookie = await dashboard.signIn()
    for (const path of ['/', '/signals', '/positions?position=x', '/anything/else']) {
      const { status, headers, text } = await dashboard.ask('GET', path, { headers: { cookie } })
      expect([status, headers['content-type'], text]).toEqual([200, 'text/html; charset=utf-8', APP_HTML])
    }
    const { text } = await dashboard.ask('GET', '/signals')
    expect(text).toContain('value="/signals"')
  })

  it('come without a body for HEAD', async () => {
    const { status, headers, text } = await dashboard.ask('HEAD', '/healthz')
    expect([status, headers['content-length'], text]).toEqual([200, '11', ''])
  })

  it('include a health check', async () => {
    const { status, text } = await dashboard.ask('GET', '/healthz')
    expect([status, text]).toEqual([200, '{"ok":true}'])
  })

  it('are read-only', async () => {
    for (const [method, path, allow] of [
      ['POST', '/', 'GET, HEAD'],
      ['PUT', '/login', 'POST'],
      ['GET', '/logout', 'POST'],
      ['DELETE', '/assets/app-1a2b.js', 'GET, HEAD'],
    ] as const) {
      const { status, headers } = await dashboard.ask(method, path)
      expect([status, headers['allow']]).toEqual([405, allow])
    }
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await dashboard.ask(method, '/login')
      expect([status, headers['location'], text]).toEqual([303, '/', ''])
    }
  })

  it('are refused in the format of the API', async () => {
    const { status, headers, text } = await dashboard.ask('PUT', '/')
    expect([status, headers['content-type']]).toEqual([405, 'application/problem+json'])
    expect(JSON.parse(text)).toEqual({
      status: 405,
      title: 'Method Not Allowed',
      code: 'route.method_not_allowed',
      detail: 'Only GET, HEAD here',
      request_id: headers['x-request-id'],
    })
  })
})

describe('the page to sign in', () => {
  const signIn = '<p><!--error--></p><input name="next" value="/" />'
  const pages: BuiltPages = { app: '', signIn, verify: null, assets: new Map() }

  it('leads on to where the visitor wanted to go', () => {
    expect(signInPage(pages, { error: null, next: '/a?b="<' })).toBe(
      '<p></p><input name="next" value="/a?b=&quot;&lt;" />',
    )
  })

  it('shows an error as text', () => {
    expect(signInPage(pages, { error: '<b> & $&', next: '/' })).toBe(
      '<p><p id="error" role="alert">&lt;b&gt; &amp; $&amp;</p></p><input name="next" value="/" />',
    )
  })
})

describe('the server', () => {
  it('refuses a request for two hosts', async () => {
    const { hostname, port } = new URL(dashboard.url)
    const socket = connect(Number(port), hostname)
    socket.end(`GET /healthz HTTP/1.1\r\nHost: ${dashboard.host}\r\nHost: b\r\nConnection: close\r\n\r\n`)
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 400 [^]*"request\.malformed_http"/)
  })

  it('answers and reports what it did not expect', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-sessions-'))
    // A folder in place of the file cannot be read.
    const broken = await startTestDashboard({ endedSessionsFile: folder })
    const { status, text } = await broken.ask('GET', '/', { headers: { cookie: await broken.signIn() } })
    expect([status, JSON.parse(text)]).toMatchObject([502, { code: 'dashboard.api_unreachable' }])
    expect(broken.api.logLines.join('')).toContain('EISDIR')
    await broken.close()
    await rm(folder, { recursive: true })
  })

  it('takes nobody once it is closed', async () => {
    const other = await startTestDashboard()
    await other.server.close()
    await expect(other.ask('GET', '/healthz')).rejects.toThrow('ECONNREFUSED')
    await other.close()
  })
})

describe('the page that verifies proofs', () => {
  const verifying = '<style>p{}</style><script>let inline</script><script>two\nlines</script>'
  const hashOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

  it('is public, with a policy that allows its own script and style and nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-verify-page-'))
    for (const name of ['index.html', 'sign-in.html']) await writeFile(join(folder, name), '')
    await writeFile(join(folder, 'verify.html'), verifying)
    const other = await startTestDashboard({ folder })
    const { status, headers, text } = await other.ask('GET', '/verify')
    expect([status, headers['content-type'], text]).toEqual([200, 'text/html; charset=utf-8', verifying])
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; script-src ${hashOf('let inline')} ${hashOf('two\nlines')}; style-src ${hashOf('p{}')}; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect((await other.ask('POST', '/verify')).status).toBe(405)
    expect((await other.ask('GET', '/')).headers['content-security-policy']).toBe(POLICY)
    await other.close()
    await rm(folder, { recursive: true })
  })
})

describe('assets', () => {
  it('are cached forever if their name contains a hash', async () => {
    const { headers, text } = await dashboard.ask('GET', '/assets/app-1a2b.js')
    expect(text).toBe('let plain')
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    })
    const icon = await dashboard.ask('GET', '/favicon.svg', { headers: { 'accept-encoding': 'gzip, br' } })
    expect([icon.text, icon.headers['content-encoding']]).toEqual(['<svg/>', undefined])
    expect(icon.headers['cache-control']).toBe('public, max-age=3600')
  })

  it('are compressed for browsers that accept it', async () => {
    const ask = async (accepted: string) => {
      const { headers, text } = await dashboard.ask('GET', '/assets/app-1a2b.js', {
        headers: { 'accept-encoding': accepted },
      })
      return [headers['content-encoding'], text]
    }
    expect(await ask('gzip, deflate, br')).toEqual(['br', 'brotli'])
    expect(await ask('gzip')).toEqual(['gzip', 'gzip'])
    expect(await ask('identity')).toEqual([undefined, 'let plain'])
  })

  it('come only from the folder', async () => {
    for (const path of [
      '/assets/none.js',
      '/../package.json',
      '/assets/../../x.js',
      '/index.html',
      '/sign-in.html',
    ]) {
      const { status, text } = await dashboard.ask('GET', path)
      expect([path, status, text]).toEqual([path, 404, expect.stringContaining('route.not_found')])
    }
  })

  it('have the type of their extension, and are none without one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-assets-'))
    const names = ['a.css', 'a.js', 'a.svg', 'a.png', 'a.woff2', 'a.txt', 'a.map', 'a']
    for (const name of ['index.html', 'sign-in.html', ...names]) await writeFile(join(folder, name), name)
    const { assets, verify } = loadPages(folder)!
    expect(verify).toBeNull()
    expect(names.map((name) => assets.get(`/${name}`)?.contentType)).toEqual([
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
      'image/svg+xml',
      'image/png',
      'font/woff2',
      'text/plain; charset=utf-8',
      undefined,
      undefined,
    ])
    expect(assets.get('/a.css')).toMatchObject({ isHashed: false, brotli: null, gzip: null })
    // One page alone is no build.
    await rm(join(folder, 'sign-in.html'))
    expect(loadPages(folder)).toBeNull()
    // A folder that cannot be read is another fault than one that is missing.
    expect(() => loadPages(join(folder, 'a.css'))).toThrow('ENOTDIR')
    await rm(folder, { recursive: true })
  })

  it('are missing before the first build', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'svc-no-pages-'))
    expect(loadPages(empty)).toBeNull()
    expect(loadPages(join(empty, 'none'))).toBeNull()
    await rm(empty, { recursive: true })
  })
})
