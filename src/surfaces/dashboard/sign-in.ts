import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { checkToken } from './api-proxy.ts'
import { addressOf } from '../rate-limit.ts'
import type { DashboardContext } from './context.ts'
import { signInPage } from './pages.ts'
import { type RefusalCode, refuse, sendJson, sendText } from './responses.ts'
import { isBehindTls, isCrossOrigin, sessionCookieOf, setCookie, type Session } from './sessions.ts'

export type Visitor =
  /** `wasSignedIn`: there was a session, and it is over. */
  | { readonly kind: 'signed-out'; readonly wasSignedIn: boolean }
  /** The service runs without a token. */
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'signed-in'; readonly session: Session }

export const visitorOf = (
  headers: IncomingHttpHeaders,
  {
    dependencies,
    limits,
    sealer,
    endedSessions,
  }: Pick<DashboardContext, 'dependencies' | 'limits' | 'sealer' | 'endedSessions'>,
): Visitor => {
  if (isInsecure(dependencies)) return ANONYMOUS
  const cookie = sessionCookieOf(headers.cookie)
  if (cookie === null) return SIGNED_OUT
  const nowMs = dependencies.clock.now()
  const session = sealer.unseal(cookie, nowMs)
  // Made while the clock was ahead: it would last until that time comes.
  const isTooLong = session !== null && session.expiresAtMs > nowMs + limits.sessionMs + CLOCK_MS_MAX
  return session === null || isTooLong || endedSessions.has(session.id)
    ? { kind: 'signed-out', wasSignedIn: true }
    : { kind: 'signed-in', session }
}

/** Time by which the clock may be set back without ending sessions. */
const CLOCK_MS_MAX = 5 * 60_000

/** True if the service runs without a token, so that every user of this machine has access. */
export const isInsecure = ({ insecureOk, configuration }: DashboardContext['dependencies']): boolean =>
  insecureOk && configuration().api.auth_token === ''

const SIGNED_OUT: Visitor = { kind: 'signed-out', wasSignedIn: false }
const ANONYMOUS: Visitor = { kind: 'anonymous' }

/** POST /login: the API checks the token; the browser gets it sealed in a cookie. */
export const signIn = async (
  context: DashboardContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (isCrossOrigin(request.headers)) return refuse(response, 'dashboard.origin_denied', FOREIGN)
  const { dependencies, limits, failedSignIns, api } = context
  const address = addressOf(request.socket.remoteAddress ?? '')
  const read = await readSignInForm(request, limits.formBytesMax)
  // A form that was held back counts when it is complete.
  const nowMs = dependencies.clock.now()
  if (read.status === 'refused') return refuse(response, read.code, read.detail)
  const deny = (code: RefusalCode, status: number, detail: string, headers = {}): void => {
    if (read.form === 'json') return refuse(response, code, detail, headers)
    const html = signInPage(context.pages, { error: detail, next: read.next })
    return sendText(response, status, 'text/html; charset=utf-8', html, headers)
  }
  // Counted before the API is asked, so that guesses that are sent together count as well.
  const waitSeconds = failedSignIns.take(address, limits.failedSignInsPerMinute, nowMs)
  if (waitSeconds !== null) {
    const detail = `Too many wrong tokens. Try again in ${waitSeconds} seconds.`
    return deny('rate.limited', 429, detail, { 'Retry-After': String(waitSeconds) })
  }
  const check = read.token === '' ? 'invalid' : await checkToken(api, read.token, limits.signInTimeoutMs)
  if (check !== 'invalid') failedSignIns.giveBack(address)
  switch (check) {
    case 'unreachable':
      return deny('dashboard.api_unreachable', 502, 'The API does not answer. Try again in a moment.')
    case 'invalid':
      return deny(
        'auth.invalid_token',
        401,
        'This is not the API token. See api.auth_token in config/user.yaml.',
      )
    case 'unreadable':
      return deny('auth.scope_missing', 403, 'This access key may not read: it needs the scope read.')
    case 'valid': {
      const expiresAtMs = nowMs + limits.sessionMs
      const token = sessionTokenOf(read.token, dependencies.configuration().api)
      const sealed = context.sealer.seal({ token, expiresAtMs })
      const headers = { 'Set-Cookie': setCookie(sealed, limits.sessionMs, isBehindTls(request.headers)) }
      if (read.form === 'json') return sendJson(response, 200, { ok: true }, headers)
      return sendText(response, 303, 'text/plain', '', { ...headers, Location: read.next })
    }
  }
}

/**
 * The operator token is never kept: a session that was opened with it has the rights of the API token, and an operator
 * action asks for the operator token again.
 */
const sessionTokenOf = (
  given: string,
  { auth_token, operator_token }: { readonly auth_token: string; readonly operator_token: string },
): string => (operator_token !== '' && isSameText(given, operator_token) ? auth_token : given)

const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))

/** POST /logout: ends the session for every copy of its cookie, and redirects to `next`, which asks for the token again. */
export const signOut = (
  context: DashboardContext,
  request: IncomingMessage,
  response: ServerResponse,
): void => {
  if (isCrossOrigin(request.headers)) return refuse(response, 'dashboard.origin_denied', FOREIGN)
  request.resume()
  const visitor = visitorOf(request.headers, context)
  if (visitor.kind === 'signed-in') {
    const { id, expiresAtMs } = visitor.session
    context.endedSessions.add(id, expiresAtMs, context.dependencies.clock.now())
    for (const [stream, sessionId] of context.streams) if (sessionId === id) stream.destroy()
  }
  const next = new URLSearchParams(request.url?.split('?')[1] ?? '').get('next')
  const headers = {
    'Set-Cookie': setCookie('', 0, isBehindTls(request.headers)),
    Location: safePath(next ?? '/'),
  }
  return sendText(response, 303, 'text/plain', '', headers)
}

export const FOREIGN = 'Sent by a page of another origin'

type SignInForm =
  | { readonly status: 'read'; readonly form: 'page' | 'json'; readonly token: string; readonly next: string }
  | { readonly status: 'refused'; readonly code: RefusalCode; readonly detail: string }

/** The sign-in request: a form from a browser, or JSON from a program. */
const readSignInForm = async (request: IncomingMessage, bytesMax: number): Promise<SignInForm> => {
  const contentType = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const text = await bodyOf(request, bytesMax)
  if (text === null) return refused('request.too_large', `The form is larger than ${bytesMax} bytes`)
  switch (contentType) {
    case 'application/x-www-form-urlencoded': {
      const fields = new URLSearchParams(text)
      const token = (fields.get('token') ?? '').trim()
      return { status: 'read', form: 'page', token, next: safePath(fields.get('next') ?? '/') }
    }
    case 'application/json':
      return readJson(text)
    default:
      return refused('request.unsupported_media_type', 'Send a form or JSON')
  }
}

/** Only a path of the dashboard: no open redirects. */
export const safePath = (next: string): string =>
  /^\/(?![/\\])[\w\-./~%?=&+*:,@]*$/.test(next) && !next.startsWith('/login') ? next : '/'

const readJson = (text: string): SignInForm => {
  try {
    const body = JSON.parse(text) as { readonly token?: unknown } | null
    const token = typeof body?.token === 'string' ? body.token.trim() : ''
    return { status: 'read', form: 'json', token, next: '/' }
  } catch {
    // Not JSON.
    return refused('request.malformed_json', 'The body is not JSON')
  }
}

const refused = (code: RefusalCode, detail: string): SignInForm => ({ status: 'refused', code, detail })

const bodyOf = async (request: IncomingMessage, bytesMax: number): Promise<string | null> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // Read to the end, so that the client gets the response; the excess is dropped.
    if (size <= bytesMax) chunks.push(chunk)
  }
  return size > bytesMax ? null : Buffer.concat(chunks).toString('utf8')
}
