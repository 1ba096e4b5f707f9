import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse, sendJson, sendText, type RefusalCode } from './answer.ts'
import { judgeToken } from './api.ts'
import { readSignInForm, safePath } from './form.ts'
import { isBehindTls, isCrossOrigin } from './origin.ts'
import { signInPage } from './pages.ts'
import { setCookie } from './session.ts'
import type { Desk } from './desk.ts'

/** POST /login: the API says whether the token is good; the browser gets it sealed. */
export const signIn = async (
  desk: Desk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (isCrossOrigin(request.headers)) return refuse(response, 'dashboard.origin_denied', FOREIGN)
  const { house, limits, attempts, line } = desk
  const nowMs = house.clock.now()
  const address = request.socket.remoteAddress ?? ''
  const read = await readSignInForm(request, limits.formBytesMax)
  if (read.status === 'refused') return refuse(response, read.code, read.detail)
  const deny = (code: RefusalCode, status: number, detail: string, headers = {}): void => {
    if (read.form === 'json') return refuse(response, code, detail, headers)
    const html = signInPage(desk.pages, { fault: detail, next: read.next })
    return sendText(response, status, 'text/html; charset=utf-8', html, headers)
  }
  const waitSeconds = attempts.waitSeconds(address, nowMs)
  if (waitSeconds > 0) {
    const detail = `Too many wrong tokens. Try again in ${waitSeconds} seconds.`
    return deny('rate.limited', 429, detail, { 'Retry-After': String(waitSeconds) })
  }
  const judgement = read.token === '' ? 'bad' : await judgeToken(line, read.token, limits.signInTimeoutMs)
  switch (judgement) {
    case 'unclear':
      return deny('dashboard.api_unreachable', 502, 'The API does not answer. Try again in a moment.')
    case 'bad':
      attempts.failed(address, nowMs)
      return deny('auth.invalid_token', 401, 'This is not the API token. It stands in config/user.yaml.')
    case 'good': {
      attempts.succeeded(address)
      const expiresAtMs = nowMs + limits.sessionMs
      const sealed = desk.sealer.seal({ token: read.token, expiresAtMs })
      const headers = { 'Set-Cookie': setCookie(sealed, limits.sessionMs, isBehindTls(request.headers)) }
      if (read.form === 'json') return sendJson(response, 200, { ok: true }, headers)
      return sendText(response, 303, 'text/plain', '', { ...headers, Location: read.next })
    }
  }
}

/** POST /logout: afterwards to the page in `next`, which asks for the token. */
export const signOut = (request: IncomingMessage, response: ServerResponse): void => {
  if (isCrossOrigin(request.headers)) return refuse(response, 'dashboard.origin_denied', FOREIGN)
  request.resume()
  const next = new URLSearchParams(request.url?.split('?')[1] ?? '').get('next')
  const headers = {
    'Set-Cookie': setCookie('', 0, isBehindTls(request.headers)),
    Location: safePath(next ?? '/'),
  }
  return sendText(response, 303, 'text/plain', '', headers)
}

const FOREIGN = 'This was sent by a page of another origin'
