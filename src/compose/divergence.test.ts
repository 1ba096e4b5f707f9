import { describe, expect, it } from 'vitest'
import { busyDay, configurationWith, DAY_VERSION, simulateDay } from '../../test/simulated-day.fixture.ts'
import type { PastPoint } from '../core/shared/as-of.ts'
import { timestampAt } from '../core/shared/time.ts'
import { runDivergence } from './divergence.ts'

describe('the divergence of a day of the real engine', () => {
  it('has a reason for every difference, and the reasons add up', async () => {
    const { log } = await simulateDay({ hours: 4, act: busyDay })
    const { seq } = await log.head()
    const steps: number[] = []
    const report = await runDivergence(
      configurationWith({}),
      { onError: () => undefined, onProgress: (done, total) => steps.push(done / total) },
      { log, version: DAY_VERSION },
    )
    expect(report.settings).toBe('recorded')
    expect(report.live_trades).toBeGreaterThan(0)
    expect(report.replayed_trades).toBeGreaterThan(0)
    expect(report.rows.some(({ live, replayed }) => live !== null && replayed !== null)).toBe(true)
    const sum = Object.values(report.by_reason).reduce((total, amount) => total + amount, 0)
    expect(sum).toBeCloseTo(report.difference_usd, 5)
    const rows = report.rows.reduce((total, row) => total + row.difference_usd, 0)
    expect(rows).toBeCloseTo(report.difference_usd, 5)
    // The operator closed a position by hand.
    expect(report.by_reason).toHaveProperty('operator')
    expect(steps.at(-1)).toBe(1)
    expect((await log.head()).seq).toBe(seq)
    const within = (from?: PastPoint, to?: PastPoint) =>
      runDivergence(
        configurationWith({}),
        { from, to, onError: () => undefined, onProgress: () => undefined },
        { log, version: DAY_VERSION },
      )
    // Two parts of the day are the day.
    const middle = report.rows[Math.floor(report.rows.length / 2)]?.time ?? ''
    const first = await within(undefined, { kind: 'time', time: timestampAt(Date.parse(middle) - 1) })
    const last = await within({ kind: 'time', time: timestampAt(Date.parse(middle)) })
    expect([...first.rows, ...last.rows]).toEqual(report.rows)
    expect(first.rows.length).toBeGreaterThan(0)
    expect(last).toMatchObject({ from: middle, to: report.to })
    expect(first.live_trades + last.live_trades).toBe(report.live_trades)
    const parts = Object.values(last.by_reason).reduce((total, amount) => total + amount, 0)
    expect(parts).toBeCloseTo(last.difference_usd, 5)
    await expect(within({ kind: 'seq', seq: seq + 1 })).rejects.toThrow(`the log has 1 to ${seq}`)
    await expect(within({ kind: 'seq', seq }, { kind: 'seq', seq: 1 })).rejects.toThrow('--from comes after')
    expect(await within({ kind: 'seq', seq })).toMatchObject({ rows: [], difference_usd: 0 })
  })
})
