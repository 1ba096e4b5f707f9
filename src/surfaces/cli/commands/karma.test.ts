import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

const intent = (intent_id: string, mode: 'paper' | 'live') => ({
  intent_id,
  trade_id: `trade of ${intent_id}`,
  node_id: 'svc-1',
  realized_pnl_usd: 73.5,
  karma_percentage: 0.005,
  karma_amount_usd: 0.3675,
  contributors: [{ contributor_id: 'c1', node_id: 'ann', share: 1 }],
  mode,
  signature_b64: '',
  created_at: '2026-02-20T00:30:00.000Z',
})

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  const log = new MemoryLog()
  await appendTo(log, 2, (seq) => ({
    type: 'karma.intent.v1',
    source: 'karma',
    payload: intent(`i${seq}`, seq === 1 ? 'paper' : 'live'),
  }))
  await home.adoptRecords(await log.read({ order: 'asc', limit: 10 }))
  await home.run(['config', 'set', 'karma.treasury_address', '0xabc'])
})
afterEach(() => home.close())

const answerOf = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await home.run([...words, '--json'])
  return { exitCode, answer: JSON.parse(stdout === '' ? stderr : stdout) }
}

describe('svc karma', () => {
  it('shows what is owed, for programs and for people', async () => {
    expect((await answerOf('karma')).answer).toMatchObject({
      treasury_address: '0xabc',
      pending_intents: 2,
      pending_usd: 0.735,
    })
    expect((await home.run(['karma'])).stdout).toMatch(/^Pending +0\.735000 USD in 2 intents$/m)
    expect((await answerOf('karma', 'intents')).answer).toMatchObject([{ id: 'i1' }, { id: 'i2' }])
    expect((await home.run(['karma', 'intents'])).stdout).toMatch(/0\.367500 .* ann 100\.00 % +i1$/m)
    expect((await home.run(['karma', 'receipts'])).stdout).toBe('Nothing has been settled yet.\n')
    expect((await home.run(['karma', 'nonsense'])).exitCode).toBe(2)
  })

  it('settles, once, and leaves its name in the log', async () => {
    const first = await answerOf('karma', 'settle', 'i1', 'x', '--tx-hash', '0xfeed')
    expect([first.exitCode, first.answer]).toMatchObject([
      0,
      {
        receipt: { intent_ids: ['i1'], tx_hash: '0xfeed', status: 'submitted' },
        skipped: [{ id: 'x', reason: 'unknown' }],
      },
    ])
    const audit = (await home.records()).findLast(({ type }) => type === 'system.audit.v1')
    expect(JSON.parse(audit?.payload ?? '')).toMatchObject({
      resource: 'cli:karma settle',
      outcome: 'allowed',
    })
    const again = await answerOf('karma', 'settle', 'x', 'i1', '--tx-hash', '0xfeed')
    expect([again.exitCode, again.answer]).toEqual([0, first.answer])
    const refused = await answerOf('karma', 'settle', 'i1')
    expect([refused.exitCode, refused.answer.code]).toEqual([1, 'karma.settlement_rejected'])
    expect((await home.run(['karma', 'receipts'])).stdout).toMatch(/submitted +paper +0xfeed/)
    expect((await home.run(['karma', 'settle'])).exitCode).toBe(2)
    expect(
      (await home.run(['karma', 'settle', ...Array.from({ length: 251 }, (_, n) => `x${n}`)])).exitCode,
    ).toBe(2)
  })

  it('migrates a wallet that is locked', async () => {
    const migrate = ['karma', 'migrate-wallet', '0xnew', '--reason', 'new device'] as const
    expect((await answerOf(...migrate)).answer.code).toBe('karma.wallet_not_locked')
    await home.run(['karma', 'settle', 'i2'])
    const { exitCode, answer } = await answerOf('config', 'set', 'karma.treasury_address', '0xevil')
    expect([exitCode, answer.code]).toEqual([1, 'config.invalid'])
    expect((await answerOf(...migrate)).answer).toMatchObject({
      treasury_address: '0xnew',
      percentage: 0.005,
    })
    expect((await home.run(['karma', 'migrate-wallet', '0xnew'])).exitCode).toBe(2)
    expect((await home.run([...migrate, '--percentage', '2'])).exitCode).toBe(2)
  })
})

describe('svc learn', () => {
  it('learns now, and shows how the weights came to be', async () => {
    const { exitCode, answer } = await answerOf('learn')
    expect([exitCode, answer]).toMatchObject([0, { trigger: 'cli', reason: 'cold_start_no_history' }])
    expect((await home.run(['learn', 'run'])).stdout).toMatch(/^Result +cold_start_no_history$/m)
    const shown = (await answerOf('learn', 'history', '--limit', '1')).answer
    expect(shown).toMatchObject({ origin: 'configured', version: 0, history: [{ trigger: 'cli' }] })
    const { stdout } = await home.run(['learn', 'history'])
    expect(stdout).toMatch(/^Weights +configured, version 0$/m)
    expect(stdout.match(/cold_start_no_history/g)).toHaveLength(2)
    expect((await home.run(['learn', 'nonsense'])).exitCode).toBe(2)
  })

  it('has nothing to show where nothing was stored', async () => {
    const empty = await openTestHome()
    const { stdout } = await empty.run(['learn', 'history', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ origin: 'configured', history: [] })
    await empty.close()
  })
})
