import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * True if the Host header names this service. Without a required token, the checks of host and origin are the only
 * protection against web pages: an attacker can point a domain name at this machine (DNS rebinding), but not an
 * address, `localhost`, the configured host, or a listed origin.
 */
export const isOwnHost = (
  host: string | undefined,
  configured: string,
  allowedOrigins: readonly string[] = [],
): boolean => {
  const name = hostNameOf(`http://${host ?? ''}`)
  if (name === null) return false
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === hostNameOf(`http://${urlHost(configured)}`) ||
    isAddress(name) ||
    allowedOrigins.some((origin) => hostNameOf(origin) === name)
  )
}

/** Host name of a URL; null for invalid URLs. */
export const hostNameOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).hostname : null)

export const urlHost = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

export const isAddress = (hostName: string): boolean => isIP(hostName.replace(/^\[(.*)\]$/, '$1')) !== 0

/** True if the browser reports that a page of another site sent the request. Following a link is no attack. */
export const isSentByForeignPage = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate'

/** Number of Host headers. Node uses the first, while a proxy may have checked another. */
export const countHosts = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number => {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}
