import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusedKindOf } from './address.ts'

describe('an address', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'reserved'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'private'],
    ['100.100.100.200', 'private'],
    ['100.127.255.255', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'reserved'],
    ['169.254.169.254', 'link-local'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['203.0.113.7', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['255.255.255.255', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:169.254.169.254', 'link-local'],
    ['::127.0.0.1', 'reserved'],
    ['::ffff:0:127.0.0.1', 'reserved'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'link-local'],
    ['64:ff9b:1::808:808', 'reserved'],
    ['100::1', 'reserved'],
    ['2001::1', 'reserved'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'reserved'],
    ['2001:20::1', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['2002:7f00:1::', 'reserved'],
    ['2002:808:808::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'private'],
    ['ff02::1', 'multicast'],
    ['4000::1', 'reserved'],
    ['localhost', 'reserved'],
    ['010.0.0.1', 'reserved'],
    ['', 'reserved'],
  ])('%s is %s', (address, kind) => {
    expect(refusedKindOf(address)).toBe(kind)
  })

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '64:ff9b::8.8.8.8',
    '::ffff:8.8.8.8',
  ])('%s is one of the internet', (address) => {
    expect(refusedKindOf(address)).toBeNull()
  })

  it('is private exactly where the blocks are, however it is written', () => {
    const blocks = new BlockList()
    blocks.addSubnet('10.0.0.0', 8)
    blocks.addSubnet('172.16.0.0', 12)
    blocks.addSubnet('192.168.0.0', 16)
    blocks.addSubnet('100.64.0.0', 10)
    const octet = fc.oneof(fc.constantFrom(10, 100, 172, 192, 168, 16, 64), fc.nat(255))
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
        const address = octets.join('.')
        const [high, low] = [octets.slice(0, 2), octets.slice(2)].map((pair) =>
          pair.map((part) => part.toString(16).padStart(2, '0')).join(''),
        )
        expect(refusedKindOf(address) === 'private').toBe(blocks.check(address))
        expect(refusedKindOf(`::ffff:${address}`)).toBe(refusedKindOf(address))
        expect(refusedKindOf(`64:ff9b::${high}:${low}`)).toBe(refusedKindOf(address))
      }),
    )
  })
})
