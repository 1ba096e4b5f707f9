import type { ServerResponse } from 'node:http'
import { cutUnread } from '../cut-unread.ts'
import { PROBLEM_KINDS, TITLES, type ProblemCode } from '../problem-codes.ts'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** On every response of the dashboard. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Not `no-referrer`: a form would then be sent with the origin "null".
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

type Headers = Readonly<Record<string, string>>

export const sendText = (
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string | Buffer,
  headers: Headers = {},
): void => {
  cutUnread(response)
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...headers,
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Headers = {},
): void => sendText(response, status, 'application/json', JSON.stringify(body), headers)

export type RefusalCode = ProblemCode | 'dashboard.api_unreachable' | 'dashboard.origin_denied'

const statusOf = (code: RefusalCode): keyof typeof TITLES => {
  switch (code) {
    case 'dashboard.api_unreachable':
      return 502
    case 'dashboard.origin_denied':
      return 403
    default:
      return PROBLEM_KINDS[code][0]
  }
}

/** An error in the format of the API. */
export const refuse = (
  response: ServerResponse,
  code: RefusalCode,
  detail: string,
  headers: Headers = {},
): void => {
  const status = statusOf(code)
  const request_id = response.getHeader('X-Request-Id')
  const text = JSON.stringify({ status, title: TITLES[status], code, detail, request_id })
  sendText(response, status, 'application/problem+json', text, headers)
}
