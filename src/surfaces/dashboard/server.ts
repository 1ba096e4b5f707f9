import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { forward, openApiConnection } from './api-proxy.ts'
import {
  DASHBOARD_LIMITS,
  type DashboardDependencies,
  type DashboardLimits,
  type DashboardContext,
} from './context.ts'
import { loadPages, sendAsset, sendStandalone, signInPage } from './pages.ts'
import { countHosts, isOwnHost, isSentByForeignPage } from '../own-host.ts'
import { RateLimit } from '../rate-limit.ts'
import { BACKLOG, shutdownOf, urlOf } from '../shutdown.ts'
import { refuse, SECURITY_HEADERS, sendJson, sendText, type RefusalCode } from './responses.ts'
import { createSealer, EndedSessions, isCrossOrigin, isSameOrigin } from './sessions.ts'
import { FOREIGN, isInsecure, safePath, signIn, signOut, visitorOf, type Visitor } from './sign-in.ts'

export interface DashboardServer {
  /** Resolves with the URL once requests are accepted. Port 0 takes any free one. */
  listen(address: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>
  /** Ends streams, waits for open responses, then closes what is left. */
  close(): Promise<void>
}

/** Null when the pages were not built. */
export const createDashboardServer = (
  dependencies: DashboardDependencies,
  given: Partial<DashboardLimits> = {},
): DashboardServer | null => {
  const pages = loadPages(dependencies.folder)
  if (pages === null) return null
  const limits = { ...DASHBOARD_LIMITS, ...given }
  const api = openApiConnection(dependencies.apiUrl)
  const failedSignIns = new RateLimit()
  const streams = new Map<ServerResponse, string | null>()
  const endedSessions = new EndedSessions(dependencies.endedSessionsFile)
  const sealer = createSealer(dependencies.sessionSecret)
  const context = { dependencies, limits, pages, api, sealer, failedSignIns, endedSessions, streams }
  const server = createServer(
    { headersTimeout: limits.headersTimeoutMs, requestTimeout: limits.requestTimeoutMs },
    (request, response) => {
      answerRequest(context, request, response).catch((error: unknown) => {
        // The client disconnected in the middle of its form: there is no response to send and nothing to log.
        if (request.readableAborted) return
        dependencies.logger.error('dashboard request failed', { error })
        if (response.headersSent) response.destroy()
        else refuse(response, 'dashboard.api_unreachable', 'Unexpected error')
      })
    },
  )
  const shutdown = shutdownOf(server, limits)
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ port, host, backlog: BACKLOG }, () => {
          server.off('error', reject)
          resolve({ url: urlOf(server).url })
        })
      }),
    close: async () => {
      await shutdown(() => {
        const closed = new Promise((resolve) => {
          server.close(resolve)
        })
        for (const stream of streams.keys()) stream.destroy()
        return closed
      })
      api.agent.destroy()
    },
  }
}

/** The routes of the dashboard's server. */
const answerRequest = async (
  context: DashboardContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
  response.setHeader('X-Request-Id', context.dependencies.clock.newId())
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const denied = deniedBecause(context, request)
  if (denied !== null) return refuse(response, ...denied)
  if (path.startsWith(`${context.api.url.pathname}/`)) return answerApi(context, request, response)
  switch (path) {
    case '/login':
      if (isRead(request)) return redirectToStart(response)
      return request.method === 'POST' ? signIn(context, request, response) : notAllowed(response, 'POST')
    case '/logout':
      return request.method === 'POST' ? signOut(context, request, response) : notAllowed(response, 'POST')
  }
  if (!isRead(request)) return notAllowed(response, 'GET, HEAD')
  if (path === '/healthz') return sendJson(response, 200, { ok: true })
  const { verify } = context.pages
  if (path === '/verify' && verify !== null) return sendStandalone(response, verify)
  const asset = context.pages.assets.get(path)
  if (asset !== undefined) return sendAsset(request, response, asset)
  if (/\.[a-z0-9]+$/i.test(path)) return refuse(response, 'route.not_found', 'No such file')
  const visitor = visitorOf(request.headers, context)
  if (path === '/session') return sendJson(response, 200, sessionView(visitor))
  const html =
    visitor.kind === 'signed-out'
      ? signInPage(context.pages, {
          error: visitor.wasSignedIn ? OVER : null,
          next: safePath(request.url ?? '/'),
        })
      : context.pages.app
  return sendText(response, 200, 'text/html; charset=utf-8', html)
}

/** On every route: one Host header, and without sign-in a known host and no page of another site. */
const deniedBecause = (
  { dependencies }: DashboardContext,
  request: IncomingMessage,
): readonly [RefusalCode, string] | null => {
  if (countHosts(request) > 1) return ['request.malformed_http', 'There is more than one Host header']
  const { api, dashboard } = dependencies.configuration()
  if (!isInsecure(dependencies)) return null
  if (!isOwnHost(request.headers.host, dashboard.host, api.cors_origins))
    return ['request.host_denied', UNKNOWN_HOST]
  const isForeign = request.headers['sec-fetch-site'] === undefined && isCrossOrigin(request.headers)
  return isForeign || isSentByForeignPage(request) ? ['dashboard.origin_denied', FOREIGN] : null
}

const UNKNOWN_HOST = 'Without a token the Host header must be an address, localhost or the configured host'

const OVER = 'The session is over. Sign in again to continue where you were.'

const answerApi = (context: DashboardContext, request: IncomingMessage, response: ServerResponse): void => {
  const { dependencies, api, streams } = context
  const visitor = visitorOf(request.headers, context)
  if (visitor.kind === 'signed-out') {
    return refuse(response, 'auth.missing_token', 'Sign in first', { 'WWW-Authenticate': 'Bearer' })
  }
  if (!isRead(request) && !isSameOrigin(request.headers)) {
    return refuse(response, 'dashboard.origin_denied', 'Only pages of the dashboard may write through it')
  }
  if (visitor.kind === 'anonymous')
    return forward(request, response, { api, token: null, endsInMs: null, sessionId: null, streams })
  const { id: sessionId, token, expiresAtMs } = visitor.session
  const endsInMs = expiresAtMs - dependencies.clock.now()
  return forward(request, response, { api, token, endsInMs, sessionId, streams })
}

/** The session as the page sees it: never the token. */
const sessionView = (visitor: Visitor): object => ({
  signed_in: visitor.kind !== 'signed-out',
  sign_in_needed: visitor.kind !== 'anonymous',
  expires_at: visitor.kind === 'signed-in' ? new Date(visitor.session.expiresAtMs).toISOString() : null,
})

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'

const redirectToStart = (response: ServerResponse): void =>
  sendText(response, 303, 'text/plain', '', { Location: '/' })

const notAllowed = (response: ServerResponse, allow: string): void =>
  refuse(response, 'route.method_not_allowed', `Only ${allow} here`, { Allow: allow })
