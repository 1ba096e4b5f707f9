import { afterEach, beforeEach, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { barAt } from '../../../core/market/bars.fixture.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { logWithIntents } from '../../http/trading.fixture.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'
import { COMMANDS } from '../program.ts'

const WIDTH = 80
const LONG = 'a-name-that-is-longer-than-anybody-would-type-it-but-allowed'

const payloadOf = (value: object): JsonObject => value as JsonObject

/** Positions, orders, intents, contributors, producers and shares of profit, with long names and large numbers. */
let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  const log = await logWithIntents()
  for (const symbol of ['BTC', 'ETH', 'SOL']) {
    const bar = { ...barAt('2026-02-20T00:29:00.000Z', 123_456.789_123, { symbol }), feed: 'file' }
    await appendTo(log, 1, () => ({ type: 'market.bar.v1', source: 'market', payload: payloadOf(bar) }))
  }
  const share = (mode: string) => ({
    trade_id: LONG,
    node_id: LONG,
    realized_pnl_usd: 123_456.78,
    karma_percentage: 0.005,
    karma_amount_usd: 617.2839,
    contributors: ['one', 'two', 'three'].map((name) => ({
      contributor_id: name,
      node_id: `${LONG}-${name}`,
      share: 1 / 3,
    })),
    mode,
    signature_b64: '',
    created_at: '2026-02-18T00:30:00.000Z',
  })
  await appendTo(log, 4, (seq) => ({
    type: 'karma.intent.v1',
    source: 'karma',
    payload: { intent_id: `${seq.toString(16)}816654f-95fc-81f1-b2b2-170ceb326439`, ...share('live') },
  }))
  await home.adoptRecords(await log.read({ order: 'asc', limit: 100 }))
  const words = [
    ['init', '--dev'],
    ['config', 'set', 'karma.treasury_address', '0x52908400098527886E0F7030069857D2E4169EE7'],
    ['intents', 'approve', 'intent-1'],
    ['intents', 'approve', 'intent-2'],
    ['intents', 'deny', 'intent-3'],
    ['positions', 'close', '--all', '--yes'],
    ['contributors', 'register', '--node-id', LONG, '--name', LONG, '--role', LONG.slice(0, 32)],
    [
      'producers',
      'register',
      '--name',
      LONG,
      '--domain',
      'onchain',
      '--endpoint',
      `https://${LONG}.example/x`,
    ],
    [
      'keys',
      'create',
      '--name',
      LONG,
      '--scopes',
      'read,submit,emit',
      '--contributor',
      LONG,
      '--expires',
      '4w',
    ],
    ['keys', 'create', '--name', 'all', '--scopes', 'read,submit,emit,operate', '--expires', '2027-01-01'],
    ['signal', 'BTC and ETH and SOL up', '--direction', 'bullish', '--conviction', '9'],
    ['learn', 'run'],
    ['brain', 'run'],
    ['karma', 'settle', '7816654f-95fc-81f1-b2b2-170ceb326439', '--tx-hash', `0x${'9f2c'.repeat(16)}`],
    ['kill-switch', 'set', '1', '--reason', `${LONG} ${LONG} ${LONG}`],
  ]
  for (const line of words) {
    const { exitCode, stderr } = await home.run(line)
    if (exitCode !== 0) throw new Error(`${line.join(' ')}: ${stderr}`)
  }
})
afterEach(() => home.close())

const tooWide = (text: string): readonly string[] => text.split('\n').filter((line) => line.length > WIDTH)

it('shows everything in 80 columns', async () => {
  for (const line of [
    'positions --status all',
    'orders',
    'intents',
    'contributors list',
    'contributors leaderboard',
    `contributors score --node-id ${LONG}`,
    'keys list',
    'producers list',
    'producers status',
    'portfolio',
    'brain status',
    'brain explain',
    'learn history',
    'karma treasury',
    'karma intents',
    'karma receipts',
    'kill-switch',
    'live',
    'health',
    'integrity',
    'replay',
    'identity show',
    'config show',
  ]) {
    const { stdout, stderr } = await home.run(line.split(' '))
    expect([line, stderr]).toEqual([line, ''])
    expect(stdout.split('\n').length).toBeGreaterThan(1)
    expect([line, tooWide(stdout)]).toEqual([line, []])
  }
})

it('explains every command in 80 columns', async () => {
  expect(tooWide((await home.run([])).stdout)).toEqual([])
  for (const [name] of Object.values(COMMANDS).flat()) {
    expect(tooWide((await home.run([name, '--help'])).stdout)).toEqual([])
  }
})

it('takes the beginning of an id, as tables show it', async () => {
  const [, row = ''] = (await home.run(['karma', 'intents'])).stdout.split('\n')
  const shown = row.split(' ').at(-1) ?? ''
  expect(shown).toMatch(/^[0-9a-f]{8}$/)
  const { exitCode, stdout } = await home.run(['karma', 'settle', shown, '--json'])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout).receipt.intent_ids).toEqual([`${shown}-95fc-81f1-b2b2-170ceb326439`])
})
