import { problem, type Problem } from './problems.ts'

type Headers = Readonly<Record<string, string>>

/** Every request header that means something to some endpoint. */
const REQUEST_HEADERS = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'X-Request-Id',
  'X-Trace-Id',
]

/** For every answer. Nothing while no origin is configured; never `*`, never credentials. */
export const corsHeaders = (allowedOrigins: readonly string[], origin: string | undefined): Headers => {
  if (allowedOrigins.length === 0) return {}
  if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: 'Origin' }
  return { vary: 'Origin', 'access-control-allow-origin': origin }
}

export type Preflight =
  | { readonly status: 'none' }
  | { readonly status: 'allowed'; readonly headers: Headers }
  | { readonly status: 'denied'; readonly problem: Problem }

export const preflight = (
  allowedOrigins: readonly string[],
  request: {
    readonly method: string
    readonly origin: string | undefined
    readonly wantedMethod: string | undefined
  },
): Preflight => {
  const { method, origin, wantedMethod } = request
  const isPreflight = method === 'OPTIONS' && origin !== undefined && wantedMethod !== undefined
  if (!isPreflight || allowedOrigins.length === 0) return { status: 'none' }
  if (!allowedOrigins.includes(origin)) {
    return {
      status: 'denied',
      problem: problem('cors.origin_denied', 'This web origin is not listed in api.cors_origins'),
    }
  }
  return {
    status: 'allowed',
    headers: {
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-allow-headers': REQUEST_HEADERS.join(', '),
      'access-control-max-age': '600',
    },
  }
}
