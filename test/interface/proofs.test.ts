import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { treeHash } from '../rfc6962.fixture.ts'
import { register, submit } from './acts.ts'
import { isSignedBy, type EventRecord } from './proof.ts'
import { cleanUp, newHome, startService, svc, type RunningService } from './service.ts'

const DEVELOPMENT = { SVC_DEV_MODE: '1' }

let service: RunningService
let home: string
let signal: string
let verifierKey: string
beforeAll(async () => {
  home = await newHome()
  service = await startService(home, DEVELOPMENT)
  await register(service, 'n1')
  signal = await submit(service, 'n1', { symbol: 'BTC', direction: 'bullish', conviction: 7 })
  verifierKey = JSON.parse((await svc(home, ['identity', 'show', '--json'])).stdout).verifier_key
})
afterAll(cleanUp)

const proofOf = async (id: string): Promise<string> => {
  const { status, text } = await service.call('GET', `/events/${id}/proof`)
  expect(status).toBe(200)
  return text
}

const saved = async (name: string, text: string): Promise<string> => {
  const file = join(home, name)
  await writeFile(file, text)
  return file
}

const verify = async (file: string, key = verifierKey) => {
  const { exitCode, stdout } = await svc('/nonexistent', ['verify-proof', file, '--key', key, '--json'])
  return { exitCode, verdict: JSON.parse(stdout) }
}

/** The root as RFC 9162 computes it, with nothing of ours. */
const rootFrom = (leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer => {
  const node = (left: Buffer, right: Buffer): Buffer =>
    hash('sha256', Buffer.concat([Buffer.of(1), left, right]), 'buffer')
  const climb = (from: number, count: number, at: number, rest: readonly Buffer[]): Buffer => {
    if (count === 1) return leaf
    let split = 1
    while (split * 2 < count) split *= 2
    const sibling = rest.at(-1)!
    const below = rest.slice(0, -1)
    return at < from + split
      ? node(climb(from, split, at, below), sibling)
      : node(sibling, climb(from + split, count - split, at, below))
  }
  return climb(0, size, index, path)
}

describe('a proof for outsiders', () => {
  it('ties the event to a signed root, by the published formats alone', async () => {
    const [head = '', text = '', signatures = ''] = (await proofOf(signal)).split('\n\n')
    const [format, extra = '', index = '', ...path] = head.split('\n')
    expect([format, extra.slice(0, 6), index]).toEqual([
      'c2sp.org/tlog-proof@v1',
      'extra ',
      expect.stringMatching(/^index \d+$/),
    ])
    const record: EventRecord = (await service.call('GET', `/events/${signal}`)).body
    const eventHash = hash('sha256', Buffer.from(extra.slice(6), 'base64'), 'buffer')
    expect(eventHash.toString('hex')).toBe(record.hash)

    const [origin, size, root] = text.split('\n')
    expect(origin).toMatch(/^signal-engine\/events\/[0-9a-f]{64}$/)
    const leaf = hash('sha256', Buffer.concat([Buffer.of(0), eventHash]), 'buffer')
    const siblings = path.map((line) => Buffer.from(line, 'base64'))
    expect(rootFrom(leaf, record.seq - 1, Number(size), siblings).toString('base64')).toBe(root)

    const { items }: { items: readonly EventRecord[] } = (
      await service.call('GET', `/events?order=asc&limit=${size}`)
    ).body
    const data = items.map((item) => Buffer.from(item.hash, 'hex'))
    expect(treeHash(data).toString('base64')).toBe(root)

    const [, name, blob = ''] = /^\u2014 (\S+) (\S+)\n$/.exec(signatures) ?? []
    const [keyName, keyId, typeAndKey = ''] = verifierKey.split('+')
    expect([name, Buffer.from(blob, 'base64').toString('hex', 0, 4)]).toEqual([keyName, keyId])
    // The key itself may hold a plus.
    const key = Buffer.from(verifierKey.slice(verifierKey.indexOf(typeAndKey)), 'base64')
    expect([key.length, key[0]]).toEqual([33, 1])
    const signature = Buffer.from(blob, 'base64').toString('hex', 4)
    expect(isSignedBy(key.toString('hex', 1), `${text}\n`, signature)).toBe(true)
  })

  it('is checked by svc verify-proof, with the public key and nothing else', async () => {
    const file = await saved('call.tlog-proof', await proofOf(signal))
    expect(await verify(file)).toMatchObject({
      exitCode: 0,
      verdict: {
        ok: true,
        event: {
          id: signal,
          type: 'signal.curator.v1',
          source: 'n1',
          payload: { symbol: 'BTC', conviction: 7 },
        },
      },
    })
    const changed = await saved(
      'changed.tlog-proof',
      (await proofOf(signal)).replace('\ntime 20', '\ntime 19'),
    )
    expect(await verify(changed)).toMatchObject({ exitCode: 1, verdict: { ok: false, reason: 'signature' } })
  })

  it('can be made by the command line beside the service, and after it', async () => {
    const file = join(home, 'cli.tlog-proof')
    const { exitCode, stderr } = await svc(home, ['prove', signal, '--out', file], DEVELOPMENT)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(await verify(file)).toMatchObject({ exitCode: 0 })
    const earlier = await saved('earlier.tlog-proof', await proofOf(signal))
    const later = await submit(service, 'n1', { symbol: 'ETH' })
    await proofOf(later)
    await service.stop()
    const growth = join(home, 'growth.proof')
    expect(await svc(home, ['prove', '--from', earlier, '--out', growth])).toMatchObject({
      exitCode: 0,
      stderr: '',
    })
    const { exitCode: grown, verdict } = await verify(growth)
    expect([grown, verdict]).toMatchObject([0, { ok: true, kind: 'consistency' }])
    expect(verdict.newer.size).toBeGreaterThan(verdict.older.size)
    service = await startService(home, DEVELOPMENT)
    expect(await verify(await saved('restarted.tlog-proof', await proofOf(later)))).toMatchObject({
      exitCode: 0,
    })
    expect((await svc(home, ['integrity'])).exitCode).toBe(0)
  })

  it('is refused for an event that is not there', async () => {
    expect(await service.call('GET', '/events/nope/proof')).toMatchObject({
      status: 404,
      body: { code: 'event.not_found' },
    })
    expect(await svc(home, ['prove', 'nope'])).toMatchObject({ exitCode: 1 })
  })
})
