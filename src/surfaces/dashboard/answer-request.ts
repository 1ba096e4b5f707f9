import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse, SAFETY_HEADERS, sendJson, sendText } from './answer.ts'
import type { Desk } from './desk.ts'
import { safePath } from './form.ts'
import { forward } from './forward.ts'
import { isSameOrigin } from './origin.ts'
import { sendAsset, signInPage } from './pages.ts'
import { signIn, signOut } from './sign-in.ts'
import { visitorOf, type Visitor } from './visitor.ts'

/** All that the dashboard's server answers. */
export const answerRequest = async (
  desk: Desk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  for (const [name, value] of Object.entries(SAFETY_HEADERS)) response.setHeader(name, value)
  response.setHeader('X-Request-Id', desk.house.clock.newId())
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  if (path.startsWith(`${desk.line.url.pathname}/`)) return answerApi(desk, request, response)
  switch (path) {
    case '/login':
      if (isReading(request)) return toStart(response)
      return request.method === 'POST' ? signIn(desk, request, response) : notAllowed(response, 'POST')
    case '/logout':
      return request.method === 'POST' ? signOut(request, response) : notAllowed(response, 'POST')
  }
  if (!isReading(request)) return notAllowed(response, 'GET, HEAD')
  if (path === '/healthz') return sendJson(response, 200, { ok: true })
  const asset = desk.pages.assets.get(path)
  if (asset !== undefined) return sendAsset(request, response, asset)
  if (/\.[a-z0-9]+$/i.test(path)) return refuse(response, 'route.not_found', 'There is no such file')
  const visitor = visitorOf(request.headers, desk)
  if (path === '/session') return sendJson(response, 200, sessionView(visitor))
  const html =
    visitor.kind === 'stranger'
      ? signInPage(desk.pages, {
          fault: visitor.wasSignedIn ? OVER : null,
          next: safePath(request.url ?? '/'),
        })
      : desk.pages.app
  return sendText(response, 200, 'text/html; charset=utf-8', html)
}

const OVER = 'The session is over. Sign in again to go on where you were.'

const answerApi = (desk: Desk, request: IncomingMessage, response: ServerResponse): void => {
  const { house, line, streams } = desk
  const visitor = visitorOf(request.headers, desk)
  if (visitor.kind === 'stranger') {
    return refuse(response, 'auth.missing_token', 'Sign in first', { 'WWW-Authenticate': 'Bearer' })
  }
  if (!isReading(request) && !isSameOrigin(request.headers)) {
    return refuse(response, 'dashboard.origin_denied', 'Only pages of the dashboard may write through it')
  }
  if (visitor.kind === 'anybody')
    return forward(request, response, { line, token: null, endsInMs: null, streams })
  const { token, expiresAtMs } = visitor.session
  return forward(request, response, { line, token, endsInMs: expiresAtMs - house.clock.now(), streams })
}

/** What a page may know of its own session: never the token. */
const sessionView = (visitor: Visitor): object => ({
  signed_in: visitor.kind !== 'stranger',
  sign_in_needed: visitor.kind !== 'anybody',
  expires_at: visitor.kind === 'signed-in' ? new Date(visitor.session.expiresAtMs).toISOString() : null,
})

const isReading = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD'

const toStart = (response: ServerResponse): void =>
  sendText(response, 303, 'text/plain', '', { Location: '/' })

const notAllowed = (response: ServerResponse, allow: string): void =>
  refuse(response, 'route.method_not_allowed', `Only ${allow} here`, { Allow: allow })
