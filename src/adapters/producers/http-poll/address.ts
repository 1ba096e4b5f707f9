import { lookup } from 'node:dns/promises'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { httpUrl } from '../../../core/shared/text.ts'

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

/** Address of an endpoint, if requests to it are allowed. One private address of the host refuses the endpoint. */
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

/** Resolves names as other programs on this machine do, including the hosts file. */
export const resolveBySystem: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

const ENDPOINT = httpUrl()

/** Why an address is not one of the public internet. */
export type AddressKind = 'loopback' | 'private' | 'link-local' | 'multicast' | 'unspecified' | 'reserved'

/** Null for an address that is reachable from the public internet. Every other address is refused. */
export const refusedKindOf = (address: string): AddressKind | null => {
  const bare = address.replace(/%.*$/, '')
  if (isIP(bare) === 0) return 'reserved'
  if (isIPv4(bare)) return kindOf(bare, 'ipv4')
  // The block list applies the rules for IPv4 to IPv4-mapped addresses, but not to NAT64 addresses.
  const translated = NAT64.exec(new URL(`http://[${bare}]`).hostname)
  if (translated !== null) return refusedKindOf(`::ffff:${translated[1] ?? 0}:${translated[2] ?? 0}`)
  const isPublic = GLOBAL.check(bare, 'ipv6') || MAPPED.check(bare, 'ipv6')
  return kindOf(bare, 'ipv6') ?? (isPublic ? null : 'reserved')
}

/** The last four bytes of `64:ff9b::/96`, as the URL parser writes every spelling. */
const NAT64 = /^\[64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})?\]$/

const RANGES: readonly (readonly [block: string, kind: AddressKind])[] = [
  ['0.0.0.0/32', 'unspecified'],
  ['0.0.0.0/8', 'reserved'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'private'], // between providers and their customers; metadata of some clouds
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'reserved'], // metadata of a cloud, on a public address
  ['169.254.0.0/16', 'link-local'], // metadata of most clouds
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'reserved'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['2001::/23', 'reserved'], // protocols, among them a tunnel that hides an IPv4 address
  ['2001:db8::/32', 'reserved'],
  ['2002::/16', 'reserved'], // another such tunnel
  ['3fff::/20', 'reserved'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
]

const listOf = (block: string): BlockList => {
  const [address = '', length = ''] = block.split('/')
  const list = new BlockList()
  list.addSubnet(address, Number(length), address.includes(':') ? 'ipv6' : 'ipv4')
  return list
}

const GLOBAL = listOf('2000::/3')
const MAPPED = listOf('::ffff:0:0/96')
const RULES = RANGES.map(([block, kind]) => ({ list: listOf(block), kind }))

const kindOf = (address: string, family: 'ipv4' | 'ipv6'): AddressKind | null =>
  RULES.find(({ list }) => list.check(address, family))?.kind ?? null
