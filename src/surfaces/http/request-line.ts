import type { IncomingMessage } from 'node:http'
import { API_PREFIX } from './route.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The caller's own name for its request, if it is one. */
export const givenRequestId = (request: IncomingMessage): string | null => {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : null
}

/** The path alone: no query, no host of an absolute address. */
export const pathOf = (url: string): string => {
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

/** How the audit names what was asked for: the path without prefix, query and trailing slash. */
export const resourceOf = (url: string): string => {
  const path = pathOf(url).replace(/\/+$/, '')
  const isBelowPrefix = path.startsWith(`${API_PREFIX}/`)
  return isBelowPrefix ? path.slice(API_PREFIX.length) : path || '/'
}
