import type { ServerResponse } from 'node:http'

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

const REFUSALS = {
  'auth.missing_token': [401, 'Unauthorized'],
  'auth.invalid_token': [401, 'Unauthorized'],
  'dashboard.origin_denied': [403, 'Forbidden'],
  'route.not_found': [404, 'Not Found'],
  'route.method_not_allowed': [405, 'Method Not Allowed'],
  'request.host_denied': [403, 'Forbidden'],
  'request.malformed_http': [400, 'Bad Request'],
  'request.too_large': [413, 'Content Too Large'],
  'request.unsupported_media_type': [415, 'Unsupported Media Type'],
  'request.malformed_json': [400, 'Bad Request'],
  'rate.limited': [429, 'Too Many Requests'],
  'dashboard.api_unreachable': [502, 'Bad Gateway'],
} as const

export type RefusalCode = keyof typeof REFUSALS

/** An error in the format of the API. */
export const refuse = (
  response: ServerResponse,
  code: RefusalCode,
  detail: string,
  headers: Headers = {},
): void => {
  const [status, title] = REFUSALS[code]
  const request_id = response.getHeader('X-Request-Id')
  const text = JSON.stringify({ status, title, code, detail, request_id })
  sendText(response, status, 'application/problem+json', text, headers)
}
