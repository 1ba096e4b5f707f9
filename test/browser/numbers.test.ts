import { describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { BROWSER, visit } from './browser.fixture.ts'
import { openPositions } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

/** Worked out here once more, on purpose. */
const percent = (share: number, plus = false): string => {
  const text = `${Math.abs(share * 100).toFixed(2)} %`
  return share < 0 ? `−${text}` : plus && share > 0 ? `+${text}` : text
}

interface Limits {
  readonly max_portfolio_heat_pct: number
  readonly heat_open_fraction: number
  readonly daily_loss_limit_pct: number
  readonly max_drawdown_pct: number
  readonly max_position_pct: number
  readonly l1_daily_loss_pct: number
  readonly l2_portfolio_heat_pct: number
  readonly l3_max_drawdown_pct: number
}

describe.skipIf(BROWSER === undefined)('what pages print of the API', () => {
  const dashboard = useSignedInPage({ prepare: openPositions, path: '/risk' })
  const read = async <Body>(path: string): Promise<Body> => (await dashboard.engine.call('GET', path)).body

  it('is every limit of risk as the percentage it is', async () => {
    const { limits } = await read<{ limits: Limits }>('/portfolio')
    const meter = (name: RegExp): Promise<string | null> =>
      dashboard.page.getByRole('meter', { name }).getAttribute('aria-valuetext')
    expect(await meter(/^Loss since/)).toContain(
      `entries stop at ${percent(limits.daily_loss_limit_pct)}; level 1 at ${percent(limits.l1_daily_loss_pct)}`,
    )
    expect(await meter(/^Drawdown/)).toContain(
      `entries stop at ${percent(limits.max_drawdown_pct)}; level 3 at ${percent(limits.l3_max_drawdown_pct)}`,
    )
    expect(await meter(/^Heat/)).toContain(
      `entries stop at ${percent(limits.max_portfolio_heat_pct * limits.heat_open_fraction)}; level 2 at ${percent(limits.l2_portfolio_heat_pct)}`,
    )
    expect(await meter(/^Largest position/)).toContain(
      `no larger entry at ${percent(limits.max_position_pct)}`,
    )
  })

  it('is the size of an intent', async () => {
    const { page } = dashboard
    const [intent] = await read<readonly { size_pct: number }[]>('/intents')
    await visit(page, '/brain')
    await page
      .getByRole('region', { name: 'List of intents' })
      .getByText(percent(intent?.size_pct ?? 0), { exact: true })
      .first()
      .waitFor()
  })

  it('is the return of a call that was traded, not a hundredth of it', async () => {
    const { page, engine } = dashboard
    const signal = (await eventsOf(engine, 'signal.curator')).find(
      ({ payload }) => payload['symbol'] === 'SOL',
    )
    const path = `/signals/${signal?.id ?? ''}/attribution`
    const shown = async (): Promise<number | null> =>
      (await read<{ call: { return_pct: number | null } }>(path)).call.return_pct
    await expect.poll(shown).not.toBeNull()
    const share = (await shown()) ?? 0
    expect(Math.abs(share)).toBeGreaterThan(0.05)
    expect(Math.abs(share)).toBeLessThan(0.2)
    await visit(page, `/signals?signal=${signal?.id ?? ''}`)
    await page
      .getByRole('dialog')
      .getByText(`(${percent(share, true)})`)
      .waitFor()
  })

  it('is the return of a position and the drawdown of a producer', async () => {
    const { page } = dashboard
    const [closed] =
      await read<readonly { realized_pnl: number; size_notional: number }[]>('/positions?status=closed')
    await visit(page, '/positions')
    const share = (closed?.realized_pnl ?? 0) / (closed?.size_notional ?? 1)
    await page
      .getByRole('region', { name: 'List of closed positions' })
      .getByText(percent(share, true), { exact: true })
      .waitFor()
    const { attribution_windows } = await read<{
      attribution_windows: Readonly<Record<string, { max_drawdown_pct: number }>>
    }>('/oracle/producers/onchain-one/provenance')
    const drawdown = attribution_windows['7d']?.max_drawdown_pct ?? Number.NaN
    await visit(page, '/producers?producer=onchain-one')
    await page
      .getByRole('dialog')
      .getByRole('cell', { name: percent(drawdown), exact: true })
      .first()
      .waitFor()
  })

  it('is the evidence of the newest cycle with its age', async () => {
    const { page, engine } = dashboard
    const { conditions_at } = await read<{ conditions_at: string }>('/regime')
    const { last_cycle_at } = await read<{ last_cycle_at: string }>('/brain/status')
    expect(conditions_at).toBe(last_cycle_at)
    await visit(page, '/brain')
    const regime = page.getByRole('region', { name: 'Regime', exact: true })
    await regime.getByText(/^Evidence of the cycle .*(ago|now)$/).waitFor()
    expect(await regime.locator('p time').getAttribute('datetime')).toBe(conditions_at)
    // % per year, as it was sent.
    await regime.getByText('12.00 %').waitFor()
    await engine.call('POST', '/brain/run')
    await expect.poll(() => regime.locator('p time').getAttribute('datetime')).not.toBe(conditions_at)
  })

  it('has no errors', () => {
    expect(dashboard.problems).toEqual([])
  })
})
