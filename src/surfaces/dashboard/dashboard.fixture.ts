import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startTestServer, type TestServerOptions, TOKEN } from '../http/test-server.fixture.ts'
import type { DashboardLimits } from './context.ts'
import { createDashboardServer } from './server.ts'

const SIGN_IN_HTML =
  '<form method="post" action="/login"><!--error--><input type="hidden" name="next" value="/" /></form>'
export const APP_HTML = '<div id="app"></div>'

export interface TestDashboardOptions {
  readonly api?: TestServerOptions
  readonly limits?: Partial<DashboardLimits>
  readonly sessionSecret?: Uint8Array
  /** Another API than the real one. */
  readonly apiUrl?: string
  /** Other pages than the small ones made here. */
  readonly folder?: string
  readonly endedSessionsFile?: string
}

/** A real dashboard server before a real API; only the pages are small. */
export const startTestDashboard = async ({
  api: apiOptions,
  limits,
  sessionSecret,
  apiUrl,
  folder: builtPages,
  endedSessionsFile,
}: TestDashboardOptions = {}) => {
  const api = await startTestServer(apiOptions)
  const folder = await mkdtemp(join(tmpdir(), 'svc-pages-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), APP_HTML)
  await writeFile(join(folder, 'sign-in.html'), SIGN_IN_HTML)
  await writeFile(join(folder, 'favicon.svg'), '<svg/>')
  await writeFile(join(folder, 'assets', 'app-1a2b.js'), 'let plain')
  await writeFile(join(folder, 'assets', 'app-1a2b.js.br'), 'brotli')
  await writeFile(join(folder, 'assets', 'app-1a2b.js.gz'), 'gzip')
  const { configuration, logger, testClock } = api
  const server = createDashboardServer(
    {
      apiUrl: apiUrl ?? api.baseUrl,
      configuration: () => configuration.current(),
      insecureOk: apiOptions?.insecureOk ?? false,
      sessionSecret: sessionSecret ?? randomBytes(32),
      folder: builtPages ?? folder,
      endedSessionsFile: endedSessionsFile ?? join(folder, 'private', 'ended-sessions'),
      logger,
      clock: testClock,
    },
    limits,
  )
  if (server === null) throw new Error('the pages are not built')
  const { url } = await server.listen({ host: '127.0.0.1', port: 0 })
  const host = new URL(url).host
  const ask = (method: string, path: string, given: Ask = {}): Promise<Response> =>
    exchange(url, method, path, given)
  return {
    api,
    url,
    host,
    server,
    ask,
    /** The `Cookie` header of a signed-in user. */
    signIn: async (token = TOKEN): Promise<string> => {
      const { headers } = await ask('POST', '/login', form({ token }))
      return String(headers['set-cookie']).split(';')[0] ?? ''
    },
    close: async () => {
      await server.close()
      await api.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type TestDashboard = Awaited<ReturnType<typeof startTestDashboard>>

export interface Ask {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Not fetch, which sets Origin, Host and Sec-Fetch-Site itself. */
const exchange = (
  url: string,
  method: string,
  path: string,
  { headers = {}, body }: Ask,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, path, headers, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      text(response).then(
        (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: read }),
        reject,
      )
    })
    request.end(body)
  })

export const form = (fields: Readonly<Record<string, string>>, headers: Ask['headers'] = {}): Ask => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  body: new URLSearchParams(fields).toString(),
})

export const json = (body: unknown, headers: Ask['headers'] = {}): Ask => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
