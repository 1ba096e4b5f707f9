import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, dashboardUrlOf, newHome, startService, TOKEN, type RunningService } from './service.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

describe('the dashboard', () => {
  let service: RunningService
  let url: string
  beforeAll(async () => {
    service = await startService(await newHome())
    url = (await dashboardUrlOf(service)) ?? ''
  })
  afterAll(cleanUp)

  const login = (token: string): Promise<Response> =>
    fetch(`${url}/login`, { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' })

  it('asks for the token in a page that runs nothing but its own, and keeps it where scripts cannot look', async () => {
    const page = await fetch(url)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('content-security-policy')).toBe(POLICY)
    expect(await page.text()).toContain('action="/login"')

    const wrong = await login('wrong')
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
    const right = await login(TOKEN)
    expect(right.headers.get('set-cookie')).toMatch(/^svc_session=[^;]+;.*HttpOnly;.*SameSite=Strict/)

    // Event payloads are served as JSON, never as a page. test/browser shows that they stay text there, too.
    const cookie = right.headers.get('set-cookie')?.split(';')[0] ?? ''
    const told = await fetch(`${url}/api/v1/events?limit=1`, { headers: { cookie } })
    expect([told.status, told.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(told.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('lives as long as the service', async () => {
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ ok: true })
    const home = await newHome()
    const other = await startService(home)
    const otherUrl = (await dashboardUrlOf(other)) ?? ''
    expect((await fetch(`${otherUrl}/healthz`)).status).toBe(200)
    expect(await other.stop()).toBe(0)
    await expect(fetch(`${otherUrl}/healthz`)).rejects.toThrow('fetch failed')
  })

  it('is left out when its port is taken, and the service goes on', async () => {
    const { port } = new URL(url)
    const other = await startService(await newHome(), { SVC_DASHBOARD__PORT: port })
    expect(await dashboardUrlOf(other)).toBeNull()
    expect(other.output()).toContain('the dashboard is off: listen EADDRINUSE')
    expect((await other.call('GET', '/health')).status).toBe(200)
  })

  it('is left out on request', async () => {
    const unwanted = await startService(await newHome(), {}, { words: ['serve', '--no-dashboard'] })
    expect(await dashboardUrlOf(unwanted)).toBeNull()
    const disabled = await startService(await newHome(), { SVC_DASHBOARD__ENABLED: 'false' })
    expect(await dashboardUrlOf(disabled)).toBeNull()
  })

  it('asks nobody for a token in insecure mode', async () => {
    const variables = { SVC_API__AUTH_TOKEN: '', SVC_INSECURE_OK: '1' }
    const open = await startService(await newHome(), variables)
    const openUrl = (await dashboardUrlOf(open)) ?? ''
    expect(await (await fetch(openUrl)).text()).toContain('id="app"')
    expect((await fetch(`${openUrl}/api/v1/signals`)).status).toBe(200)
  })
})
