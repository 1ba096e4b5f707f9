import type { FastifyRequest } from 'fastify'
import { hostNameOf, isAddress, urlHost } from '../own-host.ts'
import { problem } from './problems.ts'

type Headers = Readonly<Record<string, string>>

/** Every request header that some endpoint reads. */
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

/** For every response. Nothing while no origin is configured; never `*`, never credentials. */
export const corsHeaders = (allowedOrigins: readonly string[], origin: string | undefined): Headers => {
  if (allowedOrigins.length === 0) return {}
  if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: 'Origin' }
  return { vary: 'Origin', 'access-control-allow-origin': origin }
}

export const ORIGIN_DENIED = problem(
  'cors.origin_denied',
  'This web origin is not listed in api.cors_origins',
)

/**
 * Whether the request comes from a web page of another host. The Host header alone proves nothing: an attacker can
 * point a name of theirs at this machine (DNS rebinding), but not an address, a loopback name or the configured host.
 */
export const isForeignOrigin = (
  { origin, host }: { readonly origin?: string | undefined; readonly host?: string | undefined },
  api: { readonly host: string; readonly cors_origins: readonly string[] },
): boolean => {
  if (origin === undefined || api.cors_origins.includes(origin)) return false
  const name = hostNameOf(origin)
  if (name === null) return true
  if (LOOPBACK_NAMES.has(name) || name === hostNameOf(`http://${urlHost(api.host)}`)) return false
  return !isAddress(name) || name !== hostNameOf(`http://${host ?? ''}`)
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The answer to the preflight of a browser; null for any other request. */
export const preflight = (
  allowedOrigins: readonly string[],
  { method, headers: { origin, 'access-control-request-method': wantedMethod } }: FastifyRequest,
): Headers | 'denied' | null => {
  const isPreflight = method === 'OPTIONS' && origin !== undefined && wantedMethod !== undefined
  if (!isPreflight || allowedOrigins.length === 0) return null
  if (!allowedOrigins.includes(origin)) return 'denied'
  return {
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': REQUEST_HEADERS.join(', '),
    'access-control-max-age': '600',
  }
}
