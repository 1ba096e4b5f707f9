import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryExchange } from '../../../../test/simulation/memory-exchange.fixture.ts'
import { usdFrom } from '../../../core/shared/money.ts'
import type { Broker } from '../../../ports/broker.ts'
import { openTestHome, type RunOptions, type TestHome } from '../test-home.fixture.ts'

const LIVE = { SVC_EXECUTION__MODE: 'live', SVC_EXECUTION__VENUE: 'bybit' }

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const answerOf = async (words: readonly string[], options?: RunOptions) => {
  const { exitCode, stdout, stderr } = await home.run([...words, '--json'], options)
  return { exitCode, answer: JSON.parse(stdout === '' ? stderr : stdout) }
}
const withBroker = (changes: Partial<Broker> = {}): RunOptions => ({
  environment: LIVE,
  dependencies: { openBroker: () => Promise.resolve({ ...createMemoryExchange(() => 0), ...changes }) },
})
const confirmations = async () =>
  (await home.records()).filter(({ type }) => type === 'system.live_confirmed.v1')

describe('svc live', () => {
  it('says what keeps real orders from being sent', async () => {
    expect((await answerOf(['live'])).answer).toMatchObject({
      mode: 'paper',
      venue: null,
      sends_entries: false,
      held_back_by: ['mode_paper', 'no_venue'],
    })
    const { stdout } = await home.run(['live', 'status'], { environment: LIVE })
    expect(stdout).toContain('are not sent')
    expect(stdout).toContain('not_confirmed, not_checked, paper_period, price_old')
    expect(stdout).toContain('Nobody has confirmed bybit: run "svc live enable".')
    expect((await home.run(['live', 'nonsense'])).exitCode).toBe(2)
  })

  it('is enabled by typing the name of the venue', async () => {
    const { exitCode } = await home.run(['live', 'enable'], { ...withBroker(), stdin: 'bybit\n' })
    expect(exitCode).toBe(0)
    const [record] = await confirmations()
    expect(JSON.parse(record?.payload ?? '')).toMatchObject({ venue: 'bybit', equity_usd: 10_000 })
    const { answer } = await answerOf(['live'], { environment: LIVE })
    expect(answer).toMatchObject({
      confirmed: { venue: 'bybit' },
      held_back_by: ['not_checked', 'paper_period', 'price_old'],
    })
    const audits = (await home.records()).filter(({ type }) => type === 'system.audit.v1')
    expect(audits.at(-1)?.payload).toContain('cli:live enable')
  })

  it('begins with the balance, without what a position at the venue has gained', async () => {
    const account = { equity: usdFrom(10_500), balance: usdFrom(10_000), positions: [] }
    const broker = withBroker({ account: () => Promise.resolve(account) })
    await home.run(['live', 'enable'], { ...broker, stdin: 'bybit\n' })
    const [record] = await confirmations()
    expect(JSON.parse(record?.payload ?? '')).toMatchObject({ equity_usd: 10_000 })
  })

  it('is not enabled by another word, without a venue, or with a wrong --confirm', async () => {
    const mistyped = await home.run(['live', 'enable'], { ...withBroker(), stdin: 'yes\n' })
    expect([mistyped.exitCode, mistyped.stderr]).toEqual([1, expect.stringContaining('not confirmed')])
    expect((await answerOf(['live', 'enable'])).answer.code).toBe('live.not_ready')
    const wrong = await answerOf(['live', 'enable', '--confirm', 'other'], withBroker())
    expect(wrong.answer.code).toBe('request.invalid')
    expect(await confirmations()).toEqual([])
  })

  it.each([
    [
      { SVC_MARKET__FEED: 'simulated' },
      'Prices are simulated (market.feed): real orders need those of bybit.',
    ],
    [{ SVC_MARKET__FEED: 'file', SVC_MARKET__FILE: 'bars.csv' }, 'Prices come from a file (market.feed)'],
    [{ SVC_MARKET__FEED: 'ccxt', SVC_MARKET__EXCHANGE: 'elsewhere' }, 'set market.exchange to bybit'],
  ])('is not enabled with prices of another market: %j', async (environment, sentence) => {
    const options = { ...withBroker(), environment: { ...LIVE, ...environment } }
    const { exitCode, answer } = await answerOf(['live', 'enable', '--confirm', 'exchange'], options)
    expect([exitCode, answer.code]).toEqual([1, 'live.not_ready'])
    expect(answer.detail).toContain(sentence)
    expect(await confirmations()).toEqual([])
  })

  it('is not enabled where the venue does not pass, tells no balance, or has no keys', async () => {
    const failing = withBroker({
      preflight: () => Promise.resolve([{ name: 'permissions', ok: false, detail: 'the key may not trade' }]),
    })
    const confirmed = ['live', 'enable', '--confirm', 'bybit']
    const { answer } = await answerOf(confirmed, failing)
    expect(answer).toMatchObject({ code: 'live.not_ready', detail: expect.stringContaining('may not trade') })
    const silent = await answerOf(confirmed, withBroker({ account: () => Promise.resolve(null) }))
    expect(silent.answer.code).toBe('live.not_ready')
    expect((await answerOf(confirmed, { environment: LIVE })).answer.code).toBe('live.not_ready')
    expect(await confirmations()).toEqual([])
    expect((await answerOf(confirmed, withBroker())).exitCode).toBe(0)
    expect(await confirmations()).toHaveLength(1)
  })

  it('resumes only what is held back', async () => {
    const { exitCode, answer } = await answerOf(['live', 'resume', '--reason', 'looked at it'])
    expect([exitCode, answer.code]).toEqual([1, 'live.not_reduce_only'])
    expect((await home.run(['live', 'resume'])).exitCode).toBe(2)
  })
})
