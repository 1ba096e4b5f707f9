import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from './acts.ts'
import { cleanUp, newHome, startService, svc, type RunningService, type Variables } from './service.ts'

const BEGIN_MS = Date.UTC(2024, 1, 1)
const BAR_MS = 900_000
const DAY_BARS = 96
const BARS = 5 * DAY_BARS
const END_TS = new Date(BEGIN_MS + BARS * BAR_MS).toISOString()

/** Five days that rise, fall and rise again. Each bar opens at the close of the previous one. */
const csv = (): string => {
  let close = 40_000
  const rows = Array.from({ length: BARS }, (_, index) => {
    const open = close
    const trend = Math.floor(index / 60) % 2 === 0 ? 1 : -1
    close = Math.round(open * (1 + trend * 0.0012 + (((index * 7919) % 101) - 50) * 0.00006))
    const [low, high] = [Math.min(open, close) * 0.999, Math.max(open, close) * 1.001]
    return [
      new Date(BEGIN_MS + index * BAR_MS).toISOString(),
      'BTC',
      open,
      high,
      low,
      close,
      20,
      trend * 20 + (index % 5),
      35 + trend * 20,
    ].join(',')
  })
  return ['ts,symbol,open,high,low,close,volume,funding_annualized,fear_greed', ...rows, ''].join('\n')
}

const REPLAY: Variables = {
  SVC_MARKET__FEED: 'file',
  SVC_MARKET__FILE: 'bars.csv',
  SVC_MARKET__SPEED: '1000000',
  SVC_BRAIN__MIN_DOMAINS: '1',
  SVC_BRAIN__REGIME_SYMBOL: 'BTC',
  SVC_UNIVERSE__SYMBOLS: '["BTC"]',
  // Losses do not stop the trading early.
  SVC_KILL_SWITCH__L1_DAILY_LOSS_PCT: '1',
  SVC_KILL_SWITCH__L2_LOSS_STREAK: '0',
  SVC_RISK__DAILY_LOSS_LIMIT_PCT: '0',
}

interface Trade {
  readonly direction: string
  readonly opened_at: string
  readonly closed_at: string
  readonly entry_price: number
  readonly exit_price: number
  readonly exit_reason: string
}

const homeWithBars = async (): Promise<string> => {
  const home = await newHome()
  await writeFile(join(home, 'bars.csv'), csv())
  return home
}

/** Trades of the recorded events, in the form of a backtest report. */
const tradesOf = async (service: RunningService): Promise<readonly Trade[]> => {
  const opened = new Map(
    (await eventsOf(service, 'execution.position_opened')).map(({ ts, payload }) => [
      payload['position_id'],
      { ts, payload },
    ]),
  )
  return (await eventsOf(service, 'execution.position_closed'))
    .map(({ ts, payload }) => {
      const entry = opened.get(payload['position_id'])
      return {
        direction: String(entry?.payload['direction']),
        opened_at: String(entry?.ts),
        closed_at: ts,
        entry_price: Number(entry?.payload['entry_price']),
        exit_price: Number(payload['exit_price']),
        exit_reason: String(payload['exit_reason']),
      }
    })
    .toReversed()
}

/** Trades before the last bar. The service also decides on the last bar; a backtest has no next open there. */
const beforeTheEnd = (trades: readonly Trade[]): readonly Trade[] =>
  trades.filter(({ closed_at }) => closed_at < END_TS)

describe('a file that the service replays', () => {
  let home: string
  let service: RunningService
  beforeAll(async () => {
    home = await homeWithBars()
    service = await startService(home, REPLAY)
  })
  afterAll(cleanUp)

  it('is traded on the clock of its bars, as a backtest trades it', async () => {
    await expect
      .poll(async () => (await eventsOf(service, 'market.bar'))[0]?.payload['close_ts'])
      .toBe(END_TS)
    await expect.poll(async () => (await eventsOf(service, 'brain.cycle'))[0]?.payload['as_of']).toBe(END_TS)
    const cycles = await eventsOf(service, 'brain.cycle')
    expect(cycles.length).toBeGreaterThan(100)
    for (const { payload } of cycles) expect(payload['awaited']).toMatchObject({ bar: 'stored' })
    const { stdout } = await svc(home, ['backtest', '--file', join(home, 'bars.csv'), '--json'], REPLAY)
    const report = JSON.parse(stdout) as { readonly closed_trades: readonly Trade[] }
    const expected = beforeTheEnd(report.closed_trades)
    expect(expected.length).toBeGreaterThan(2)
    const trades = beforeTheEnd(await tradesOf(service))
    expect(trades.map((trade) => ({ ...trade }))).toEqual(
      expected.map(({ direction, opened_at, closed_at, entry_price, exit_price, exit_reason }) => ({
        direction,
        opened_at,
        closed_at,
        entry_price,
        exit_price,
        exit_reason,
      })),
    )
  })

  it('has times that never decrease, all of them of the bars, also those of commands', async () => {
    expect((await svc(home, ['kill-switch', 'set', '1', '--reason', 'test'], REPLAY)).exitCode).toBe(0)
    const { body } = await service.call('GET', '/events?limit=500')
    const { items } = body as { readonly items: readonly { readonly recorded_at: string }[] }
    const times = items.map(({ recorded_at }) => recorded_at).toReversed()
    expect(times).toEqual(times.toSorted())
    expect(times.at(-1)).toBe(END_TS)
  })

  it('goes on where it stopped', async () => {
    expect(await service.stop()).toBe(0)
    const again = await startService(home, REPLAY)
    const { body } = await again.call('GET', '/events?limit=500')
    const { items } = body as { readonly items: readonly { readonly recorded_at: string }[] }
    expect(items[0]?.recorded_at).toBe(END_TS)
    expect(await again.stop()).toBe(0)
  })
})

describe('a replay that cannot be', () => {
  afterAll(cleanUp)

  it('is refused in a home whose log has later times, and leaves its log alone', async () => {
    const home = await homeWithBars()
    const today = await startService(home)
    expect(await today.stop()).toBe(0)
    const eventsIn = async (): Promise<string> => (await svc(home, ['export', 'events'])).stdout
    const before = await eventsIn()
    expect(before).toContain('system.started')
    const refused = await svc(home, ['serve'], {
      ...REPLAY,
      SVC_API__AUTH_TOKEN: 'a-token-of-more-than-thirty-two-characters',
    })
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toContain('the times of a log never decrease: set SVC_HOME to a new folder')
    expect(await eventsIn()).toBe(before)
    // A command is not part of the replay.
    expect((await svc(home, ['kill-switch', 'set', '1'], REPLAY)).exitCode).toBe(0)
  })

  it('is refused where the file is missing', async () => {
    const home = await newHome()
    const refused = await svc(home, ['serve'], {
      ...REPLAY,
      SVC_API__AUTH_TOKEN: 'a-token-of-more-than-thirty-two-characters',
    })
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toMatch(/market\.file .*bars\.csv cannot be read/)
  })
})
