import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { barAt } from '../../../core/market/bars.fixture.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { INTENT_IDS, logWithIntents } from '../../http/trading.fixture.ts'
import { openTestHome, type RunOptions, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  const log = await logWithIntents()
  const bar = { ...barAt('2026-02-20T00:29:00.000Z', 100), feed: 'file' }
  const payload = bar as unknown as JsonObject
  await appendTo(log, 1, () => ({ type: 'market.bar.v1', source: 'market', payload }))
  await home.adoptRecords(await log.read({ order: 'asc', limit: 100 }))
})
afterEach(() => home.close())

const answerOf = async (words: readonly string[], options?: RunOptions) => {
  const { exitCode, stdout, stderr } = await home.run([...words, '--json'], options)
  return { exitCode, answer: JSON.parse(stdout === '' ? stderr : stdout) }
}
const open = async (): Promise<string> =>
  (await answerOf(['intents', 'approve', INTENT_IDS.BTC])).answer.position_id
const auditOf = async () => {
  const audits = (await home.records()).filter(({ type }) => type === 'system.audit.v1')
  return JSON.parse(audits.at(-1)?.payload ?? 'null')
}

describe('svc intents', () => {
  it('lists them by status, for programs and for people', async () => {
    const { answer } = await answerOf(['intents', '--status', 'awaiting_approval', '--limit', '2'])
    expect(answer).toMatchObject([{ intent_id: INTENT_IDS.SOL }, { intent_id: INTENT_IDS.ETH }])
    expect((await home.run(['intents', 'list'])).stdout).toMatch(/^SOL +long +awaiting_approval +5\.00/m)
    expect((await home.run(['intents', '--status', 'filled'])).stdout).toBe('There are no such intents.\n')
  })

  it('approves one, which is executed at once', async () => {
    const { exitCode, answer } = await answerOf(['intents', 'approve', INTENT_IDS.BTC, '--note', ' fine '])
    expect([exitCode, answer]).toMatchObject([0, { status: 'filled', approved: true }])
    const approved = (await home.records()).find(({ type }) => type === 'execution.intent_approved.v1')
    expect(JSON.parse(approved?.payload ?? '')).toMatchObject({ intent_id: INTENT_IDS.BTC, note: 'fine' })
    expect(approved?.source).toBe('cli')
    expect(await auditOf()).toMatchObject({ resource: 'cli:intents approve', outcome: 'allowed' })
  })

  it('denies one, once', async () => {
    expect((await home.run(['intents', 'deny', INTENT_IDS.BTC])).stdout).toContain('approval_denied')
    const before = await home.records()
    const { exitCode, answer } = await answerOf(['intents', 'deny', INTENT_IDS.BTC])
    expect([exitCode, answer.code]).toEqual([1, 'intent.not_awaiting'])
    expect((await answerOf(['intents', 'deny', 'none'])).answer.code).toBe('intent.not_found')
    expect(await home.records()).toEqual(before)
  })

  it('approves nothing in a crisis, and the attempt stands in the log', async () => {
    await home.run(['kill-switch', 'set', '2'])
    const { exitCode, answer } = await answerOf(['intents', 'approve', INTENT_IDS.BTC])
    expect([exitCode, answer.code]).toEqual([1, 'kill_switch.active'])
    expect(await auditOf()).toMatchObject({ outcome: 'denied', reason: 'kill_switch_active' })
  })
})

describe('svc positions close', () => {
  it('closes one when its asset is typed', async () => {
    const id = await open()
    const refused = await home.run(['positions', 'close', id], { stdin: 'ETH\n' })
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain('nothing was done')
    const { exitCode, answer } = await answerOf(['positions', 'close', id], { stdin: 'BTC\n' })
    expect([exitCode, answer]).toMatchObject([0, { id, status: 'closed', exit_reason: 'manual' }])
    expect(await auditOf()).toMatchObject({ resource: 'cli:positions close', outcome: 'allowed' })
    expect((await answerOf(['positions', 'close', id, '--yes'])).answer.code).toBe('position.not_open')
  })

  it('closes all when that is typed, or scripts say yes', async () => {
    expect((await answerOf(['positions', 'close', '--all'])).answer).toEqual({ positions: [], failed: [] })
    const id = await open()
    expect((await home.run(['positions', 'close', '--all'], { stdin: 'yes\n' })).exitCode).toBe(1)
    const { exitCode, answer } = await answerOf(['positions', 'close', '--all', '--yes'])
    expect([exitCode, answer]).toMatchObject([0, { positions: [{ id, status: 'closed' }], failed: [] }])
    expect((await home.run(['positions', 'close', '--all'])).stdout).toBe('There are no open positions.\n')
  })

  it('refuses what it does not know', async () => {
    expect((await answerOf(['positions', 'close', 'none'])).answer.code).toBe('position.not_found')
    for (const words of [[], ['none', '--all']]) {
      expect((await home.run(['positions', 'close', ...words])).exitCode).toBe(2)
    }
  })
})

describe('svc portfolio and svc orders', () => {
  it('show the account and what was sent', async () => {
    expect((await answerOf(['portfolio'])).answer).toMatchObject({ equity_usd: 10_000, open_positions: 0 })
    expect((await home.run(['orders'])).stdout).toBe('There are no such orders.\n')
    await open()
    expect((await answerOf(['portfolio'])).answer).toMatchObject({ open_positions: 1, mode: 'paper' })
    expect((await home.run(['portfolio'])).stdout).toMatch(/^Loss streak +0 of 3$/m)
    expect((await answerOf(['orders', '--status', 'filled'])).answer).toMatchObject([
      { symbol: 'BTC', side: 'buy' },
    ])
    expect((await home.run(['orders'])).stdout).toMatch(/^BTC +buy +entry +filled/m)
  })
})
