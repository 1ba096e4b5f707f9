import type { IncomingHttpHeaders } from 'node:http'

/** Whether a page of ours asks. A browser always says so for a write; whoever says nothing is not believed. */
export const isSameOrigin = (headers: IncomingHttpHeaders): boolean =>
  saysOrigin(headers) && !isCrossOrigin(headers)

/** Whether the browser says that a page of another origin asks. */
export const isCrossOrigin = (headers: IncomingHttpHeaders): boolean => {
  const site = headers['sec-fetch-site']
  // No page can make this one up, so where it is there it decides.
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return headers.origin !== undefined && hostOf(headers.origin) !== headers.host?.toLowerCase()
}

/** Behind a proxy that speaks TLS; it ends there, so only its word tells. */
export const isBehindTls = (headers: IncomingHttpHeaders): boolean => {
  const forwarded = headers['x-forwarded-proto']
  return typeof forwarded === 'string' && forwarded.split(',')[0]?.trim() === 'https'
}

/**
 * A name that anybody may point at this machine would make a stranger's page one of ours. That matters only where
 * nobody signs in, so there the host has to be an address, this machine's name, or the one in the configuration.
 */
export const isOwnHost = (host: string | undefined, configured: string): boolean => {
  const name = hostname(host ?? '')
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === configured.toLowerCase() ||
    /^\[[0-9a-f:.]+\]$/.test(name) ||
    /^\d{1,3}(\.\d{1,3}){3}$/.test(name)
  )
}

const saysOrigin = (headers: IncomingHttpHeaders): boolean =>
  headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin'

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)

const hostname = (host: string): string =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : ''
