import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['identity', 'create', '--dev'])
})
afterEach(() => home.close())

const BULLISH = ['--direction', 'bullish', '--conviction', '7']

const signals = async () => (await home.records()).filter(({ type }) => type === 'signal.curator.v1')
const payloads = async () => (await signals()).map(({ payload }) => JSON.parse(payload))
const symbolsOf = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await home.run(['signal', ...words, '--json'])
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout).symbols
}

describe('an opinion', () => {
  it('is judged by the horizon that it states, else by that of the settings', async () => {
    await home.run(['signal', 'BTC up', ...BULLISH, '--horizon', '3d'])
    await home.run(['signal', 'ETH up', ...BULLISH])
    const attributions = (await home.records()).filter(({ type }) => type === 'attribution.recorded.v1')
    expect(attributions.map(({ payload }) => JSON.parse(payload).horizon)).toEqual(['3d', '24h'])
    expect((await payloads()).map(({ horizon }) => horizon)).toEqual(['3d', undefined])
    const { exitCode, stderr } = await home.run(['signal', 'BTC up', ...BULLISH, '--horizon', '2d'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('1h, 4h, 24h, 3d, 7d')
    expect(await signals()).toHaveLength(2)
  })

  it('is a signal of this node and who is behind it, as one', async () => {
    const { exitCode, stdout } = await home.run(['signal', 'BTC up', ...BULLISH, '--json'])
    expect(exitCode).toBe(0)
    const records = await home.records()
    expect(records.map(({ type }) => type)).toEqual([
      'system.started.v1',
      'contributor.registered.v1',
      'signal.curator.v1',
      'attribution.recorded.v1',
      'system.audit.v1',
    ])
    const [started, registered, signal, attribution, audit] = records
    const operator = JSON.parse(registered?.payload ?? '')
    expect(operator).toMatchObject({ name: 'local-operator', role: 'operator' })
    expect(JSON.parse(stdout)).toEqual({
      status: 'ok',
      event_id: signal?.id,
      symbols: ['BTC'],
      events: [
        { event_id: signal?.id, contributor_id: operator.contributor_id, symbol: 'BTC', replayed: false },
      ],
    })
    expect(signal).toMatchObject({ source: 'cli.signal', dedupeKey: null, signer: started?.signer })
    expect(JSON.parse(signal?.payload ?? '')).toEqual({
      symbol: 'BTC',
      direction: 'bullish',
      conviction: 7,
      rationale: 'BTC up',
    })
    expect(JSON.parse(attribution?.payload ?? '')).toMatchObject({
      signal_id: signal?.id,
      contributor_id: operator.contributor_id,
      node_id: operator.node_id,
      symbol: 'BTC',
      direction: 'bullish',
      score: 7,
    })
    expect(JSON.parse(audit?.payload ?? '')).toMatchObject({ resource: 'cli:signal', outcome: 'allowed' })
  })

  it('says little unless told more', async () => {
    await home.run(['signal', 'hm'])
    expect(await payloads()).toEqual([
      { symbol: 'GLOBAL', direction: 'neutral', conviction: 0, rationale: 'hm' },
    ])
  })

  it('may be typed without quotes, and have another source', async () => {
    const { stdout } = await home.run(['signal', 'eth', 'looks', 'weak', '--source', ' desk:ann '])
    expect(stdout).toMatch(/^Symbol +Signal +Event\nETH +stored +[0-9a-f-]{36}\n$/)
    expect(await signals()).toMatchObject([{ source: 'desk:ann' }])
    expect((await payloads())[0]).toMatchObject({ symbol: 'ETH', rationale: 'eth looks weak' })
    await home.run(['signal', 'x', '--source', ' '])
    expect((await signals())[1]).toMatchObject({ source: 'cli.signal' })
  })

  it('is about the symbols of the flag, else of the text, else everything', async () => {
    expect(await symbolsOf('BTC up', '--symbols', 'doge, pepe,DOGE')).toEqual(['DOGE', 'PEPE'])
    expect(await symbolsOf('$sol over BTC/USDT, not ETHUSDT; SOL!')).toEqual(['SOL', 'BTC', 'ETH'])
    expect(await symbolsOf('solid bitcoin methods')).toEqual(['GLOBAL'])
    expect((await payloads()).map(({ symbol }) => symbol)).toEqual([
      'DOGE',
      'PEPE',
      'SOL',
      'BTC',
      'ETH',
      'GLOBAL',
    ])
  })

  it('knows the universe of the home', async () => {
    const { stdout } = await home.run(['signal', 'doge and btc', '--json'], {
      environment: { SVC_UNIVERSE__SYMBOLS: 'DOGE' },
    })
    expect(JSON.parse(stdout).symbols).toEqual(['DOGE'])
  })

  it('comes back as a contributor after it was removed', async () => {
    await home.run(['signal', 'BTC'])
    const [before] = JSON.parse((await home.run(['contributors', 'list', '--json'])).stdout)
    await home.run(['contributors', 'remove', before.id])
    const { stdout } = await home.run(['signal', 'ETH', '--json'])
    const [after] = JSON.parse((await home.run(['contributors', 'list', '--json'])).stdout)
    expect(after).toMatchObject({
      node_id: before.node_id,
      name: 'local-operator',
      metadata: before.metadata,
    })
    expect(after.id).not.toBe(before.id)
    expect(JSON.parse(stdout).events).toMatchObject([{ contributor_id: after.id }])
  })

  it('is signed with a key that ends with the process where none is saved', async () => {
    const bare = await openTestHome()
    const { exitCode, stdout } = await bare.run(['signal', 'BTC up'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('No identity is saved in this home')
    const [, registered, signal] = await bare.records()
    expect(JSON.parse(registered?.payload ?? '')).toMatchObject({ metadata: { ephemeral: true } })
    expect(signal?.signature).toHaveLength(128)
    await bare.close()
  })
})

describe('with a key', () => {
  const keyed = (...words: readonly string[]) => home.run(['signal', ...words, '--dedupe-key', 'k', '--json'])

  it('is stored once', async () => {
    const first = JSON.parse((await keyed('BTC and ETH up')).stdout)
    const contributorId = first.events[0].contributor_id
    expect((await signals()).map(({ dedupeKey }) => dedupeKey)).toEqual([
      `submit:${contributorId}:k`,
      `submit:${contributorId}:k:ETH`,
    ])
    const before = await home.records()
    const again = await keyed('BTC and ETH up')
    expect(again.exitCode).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({
      event_id: first.event_id,
      events: [{ replayed: true }, { replayed: true }],
    })
    expect(await home.records()).toEqual(before)
  })

  it('is stored once by a node that signs its submissions, however late it is repeated', async () => {
    await home.run(['signal', 'BTC'])
    const [own] = JSON.parse((await home.run(['contributors', 'list', '--json'])).stdout)
    const { public_key } = JSON.parse((await home.run(['identity', 'show', '--json'])).stdout)
    await home.run(['contributors', 'remove', own.id])
    const words = ['--node-id', own.node_id, '--name', 'me', '--role', 'curator', '--public-key', public_key]
    expect((await home.run(['contributors', 'register', ...words])).exitCode).toBe(0)
    const first = JSON.parse((await keyed('BTC and ETH up')).stdout)
    const before = await home.records()
    home.clock.advance(3_600_000)
    const again = await keyed('BTC and ETH up')
    expect([again.exitCode, again.stderr]).toEqual([0, ''])
    expect(JSON.parse(again.stdout)).toMatchObject({
      event_id: first.event_id,
      events: [{ replayed: true }, { replayed: true }],
    })
    expect(JSON.parse((await keyed('BTC and ETH down')).stderr)).toMatchObject({
      code: 'idempotency.conflict',
    })
    expect(await home.records()).toEqual(before)
  })

  it('stores nothing of another opinion', async () => {
    const first = JSON.parse((await keyed('BTC up')).stdout)
    const before = await home.records()
    const { exitCode, stderr } = await keyed('ETH and SOL down')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({
      status: 409,
      code: 'idempotency.conflict',
      event_id: first.event_id,
    })
    expect(await home.records()).toEqual(before)
  })
})

describe('from a file', () => {
  const path = () => join(home.folder, 'note.txt')
  const add = (...words: readonly string[]) => home.run(['signal', 'add', '--file', path(), ...words])

  it('takes the text as it is, and the options of an opinion', async () => {
    await writeFile(path(), '\ufeffSUI: ümlaut\nand a second line\n')
    expect((await add('--symbols', 'BTC', ...BULLISH)).exitCode).toBe(0)
    await add('--direction', 'bearish')
    expect(await payloads()).toMatchObject([
      { symbol: 'BTC', direction: 'bullish', conviction: 7, rationale: 'SUI: ümlaut\nand a second line' },
      { symbol: 'SUI', direction: 'bearish', conviction: 0 },
    ])
  })

  it.each([
    ['that is not there', null, 'cannot read'],
    ['without text', ' \n', 'the text is empty'],
    ['that is too long', 'x'.repeat(20_001), 'error: rationale must have at most 20000'],
    ['that is far too long', 'x'.repeat(200_000), 'larger than'],
    ['that is no text', Buffer.from([0xff, 0xfe, 0x00]), 'not UTF-8 text'],
    ['that would take too much room', '\u0001'.repeat(15_000), 'must not be larger than'],
  ])('refuses one %s', async (_what, content, why) => {
    if (content !== null) await writeFile(path(), content)
    const { exitCode, stderr } = await add()
    expect(exitCode).toBe(2)
    expect(stderr).toContain(why)
    expect(home.log()).toBeNull()
  })

  it('refuses a folder, and no file at all', async () => {
    expect((await home.run(['signal', 'add', '--file', home.folder])).exitCode).toBe(2)
    expect((await home.run(['signal', 'add'])).stderr).toContain('--file')
    expect((await home.run(['signal', 'add'])).exitCode).toBe(2)
    expect((await add('more')).exitCode).toBe(2)
  })
})

describe('what is no opinion', () => {
  it.each([
    [[], 'the text is missing'],
    [[' '], 'the text is empty'],
    [['x', '--conviction', '11'], 'from 0 to 10'],
    [['x', '--conviction', '10.01'], 'from 0 to 10'],
    [['x', '--conviction', '-1'], 'from 0 to 10'],
    [['x', '--conviction', 'high'], 'from 0 to 10'],
    [['x', '--conviction', ''], 'from 0 to 10'],
    [['x', '--direction', 'up'], 'bullish, bearish, neutral'],
    [['x', '--symbols', ','], 'symbols with commas'],
    [['x', '--symbols', 'A'.repeat(33)], 'symbol must have at most 32'],
    [['x', '--symbols', Array.from({ length: 101 }, (_, index) => `S${index}`).join(',')], 'at most 100'],
    [['x', '--source', 'a|b'], 'source must not contain'],
    [['x', '--dedupe-key', ''], 'dedupe_key must'],
    [['x', '--dedupe-key', 'k'.repeat(201)], 'dedupe_key must have at most 200'],
    [['x', '--dedupe-key', 'k'.repeat(199), '--symbols', 'A,B'], 'dedupe_key must have at most 200'],
    [['x', '--dedupe-key', 'a\nb'], 'dedupe_key must not contain'],
    [['x'.repeat(20_001)], 'error: rationale must have at most 20000'],
    [['\ud800'], 'surrogate'],
  ])('%# ends with 2 and leaves no trace', async (words, why) => {
    const { exitCode, stdout, stderr } = await home.run(['signal', ...words])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(why)
    expect(home.log()).toBeNull()
  })

  it('is a problem object with --json', async () => {
    const { stderr } = await home.run(['signal', 'x', '--conviction', '11', '--json'])
    expect(JSON.parse(stderr)).toMatchObject({ status: 422, code: 'request.invalid' })
  })
})
