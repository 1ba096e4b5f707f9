import { lookup } from 'node:dns/promises'
import { isIP, isIPv4, isIPv6 } from 'node:net'
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

/** Why an address is not one of the public internet. */
export type AddressKind = 'loopback' | 'private' | 'link-local' | 'multicast' | 'unspecified' | 'reserved'

/** Null for an address that anybody on the internet could reach; everything that is not known to be is refused. */
export const refusedKindOf = (address: string): AddressKind | null => {
  const bare = address.replace(/%.*$/, '')
  if (isIPv4(bare)) return kindOfIPv4(bitsOfIPv4(bare))
  return isIPv6(bare) ? kindOfIPv6(bitsOfIPv6(bare)) : 'reserved'
}

type Range = readonly [block: string, kind: AddressKind]

const IPV4: readonly Range[] = [
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
]

const IPV6: readonly Range[] = [
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

/** Addresses that stand for the IPv4 address in their last four bytes. */
const TRANSLATED = ['::ffff:0:0/96', '64:ff9b::/96']

const GLOBAL = '2000::/3'

interface Block {
  readonly prefix: bigint
  readonly shift: bigint
}

const blockOf = (text: string, width: number, bitsOf: (address: string) => bigint): Block => {
  const [address = '', length = ''] = text.split('/')
  const shift = BigInt(width - Number(length))
  return { prefix: bitsOf(address) >> shift, shift }
}

const contains = ({ prefix, shift }: Block, bits: bigint): boolean => bits >> shift === prefix

const bitsOfIPv4 = (address: string): bigint =>
  address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)

const bitsOfIPv6 = (address: string): bigint => {
  const [head = '', tail] = withoutDots(address).split('::')
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0n)
  return [...first, ...zeros, ...last].reduce((bits, group) => (bits << 16n) | group, 0n)
}

/** `::ffff:127.0.0.1` is another way to write `::ffff:7f00:1`. */
const withoutDots = (address: string): string =>
  address.replace(/[0-9]+(?:\.[0-9]+){3}$/, (dotted) => {
    const bits = bitsOfIPv4(dotted)
    return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`
  })

const groupsOf = (text: string): readonly bigint[] =>
  text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`))

const rulesOf = (ranges: readonly Range[], width: number, bitsOf: (address: string) => bigint) =>
  ranges.map(([text, kind]) => ({ block: blockOf(text, width, bitsOf), kind }))

const IPV4_RULES = rulesOf(IPV4, 32, bitsOfIPv4)
const IPV6_RULES = rulesOf(IPV6, 128, bitsOfIPv6)
const TRANSLATED_BLOCKS = TRANSLATED.map((text) => blockOf(text, 128, bitsOfIPv6))
const GLOBAL_BLOCK = blockOf(GLOBAL, 128, bitsOfIPv6)

const kindOfIPv4 = (bits: bigint): AddressKind | null =>
  IPV4_RULES.find(({ block }) => contains(block, bits))?.kind ?? null

const kindOfIPv6 = (bits: bigint): AddressKind | null => {
  if (TRANSLATED_BLOCKS.some((block) => contains(block, bits))) return kindOfIPv4(bits & 0xffff_ffffn)
  const rule = IPV6_RULES.find(({ block }) => contains(block, bits))
  return rule?.kind ?? (contains(GLOBAL_BLOCK, bits) ? null : 'reserved')
}
