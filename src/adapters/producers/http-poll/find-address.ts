import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { httpUrl } from '../../../core/shared/text.ts'
import { refusedKindOf } from './address-kind.ts'

/** The addresses of a host name. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export type Found =
  | {
      readonly status: 'found'
      readonly url: URL
      readonly host: string
      readonly addresses: readonly string[]
    }
  | { readonly status: 'refused'; readonly reason: string }

export interface FindRules {
  readonly allowPrivateEndpoints: boolean
  readonly resolve: Resolve
}

/** Where an endpoint is now, if we may go there. One address inside our own network condemns them all. */
export const findAddress = async (endpoint: string, rules: FindRules): Promise<Found> => {
  const checked = ENDPOINT.safeParse(endpoint)
  if (!checked.success)
    return { status: 'refused', reason: 'endpoint is no http or https URL without user info' }
  // The parser also understands 2130706433 and 0x7f.1, and writes both as 127.0.0.1.
  const url = new URL(checked.data)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = isIP(host) === 0 ? await rules.resolve(host) : [host]
  if (!rules.allowPrivateEndpoints) {
    for (const address of addresses) {
      const kind = refusedKindOf(address)
      if (kind !== null) return { status: 'refused', reason: `endpoint blocked: ${kind} address` }
    }
  }
  return { status: 'found', url, host, addresses }
}

/** As every other program on this machine resolves names, the hosts file included. */
export const resolveBySystem: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

const ENDPOINT = httpUrl()
