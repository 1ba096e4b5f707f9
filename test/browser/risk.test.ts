import { describe, expect, it } from 'vitest'
import { eventsOf } from '../interface/acts.ts'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.ts'
import { twoIntents } from './engine.ts'
import { onStage } from './stage.ts'

/** Intents of the largest tier wait for a person, on paper too. */
const ASKS_FIRST = { SVC_EXECUTION__REQUIRE_APPROVAL: 'true' }

describe.skipIf(BROWSER === undefined)('the risk page', () => {
  const stage = onStage({ variables: ASKS_FIRST, prepare: twoIntents, path: '/risk' })
  const answer = async (path: string): Promise<unknown> => (await stage.engine.call('GET', path)).body
  const panel = (name: string) => stage.page.getByRole('region', { name, exact: true })

  it('lets a person approve or deny what waits', async () => {
    await panel('Waiting for approval').getByText('2 waiting').waitFor()
    await stage.page.getByRole('button', { name: /^Approve long ETH/ }).click()
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => answer('/positions')).toMatchObject([{ asset: 'ETH' }])
    await stage.page.getByRole('button', { name: /^Deny long SOL/ }).click()
    await stage.page.getByLabel('Reason').fill('one is enough')
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
    await panel('Waiting for approval').getByText('Nothing waits').waitFor()
    expect(await answer('/intents?status=rejected')).toMatchObject([
      { symbol: 'SOL', reasons: ['approval_denied'] },
    ])
  })

  it('shows values beside what they set off, and orders', async () => {
    const heat = stage.page.getByRole('meter', { name: /^Heat/ })
    await expect.poll(() => heat.getAttribute('aria-valuetext')).toMatch(/^0\.\d+ %; entries stop at 5\.40 %/)
    await stage.page.getByRole('meter', { name: 'Largest position, ETH' }).waitFor()
    await stage.page.getByLabel('Which orders').selectOption('all')
    await stage.page
      .getByRole('region', { name: 'All orders' })
      .getByText('filled', { exact: true })
      .waitFor()
  })

  it('blocks a symbol, and allows it again only when asked twice', async () => {
    await stage.page.getByLabel('Symbol to block').fill('doge')
    await stage.page.getByRole('button', { name: 'Block' }).click()
    await stage.page.getByRole('list', { name: 'Blocked symbols' }).getByText('DOGE').waitFor()
    expect(await answer('/config')).toMatchObject({ execution: { dcg_symbols: ['DOGE'] } })
    await stage.page.getByRole('button', { name: 'Allow DOGE again' }).click()
    await stage.page.getByRole('button', { name: 'Allow DOGE', exact: true }).click()
    await stage.page.getByText('No symbol is blocked').waitFor()
  })

  it('moves the kill switch and remembers every move', async () => {
    await panel('Kill switch').getByRole('button', { name: 'Raise' }).nth(1).click()
    await stage.page.getByLabel('Reason').fill('<b>exchange</b> reports delays')
    await stage.page.getByRole('button', { name: 'Raise to 2' }).click()
    const history = stage.page.getByRole('list', { name: 'Moves of the kill switch' })
    await history.getByText('0 → 2 Crisis').waitFor()
    await history.getByText('<b>exchange</b> reports delays').waitFor()
    await panel('Limits').getByText('stopped').waitFor()
    await panel('Kill switch').getByRole('button', { name: 'Lower' }).first().click()
    await stage.page.getByLabel('Reason').fill('fills are back')
    await stage.page.getByLabel('Type LOWER to confirm').fill('LOWER')
    await stage.page.getByRole('button', { name: 'Lower to 0' }).click()
    await history.getByText('2 → 0 Normal').waitFor()
    expect(await eventsOf(stage.engine, 'system.kill_switch')).toHaveLength(2)
  })

  it('is accessible, fits a phone and never complains', async () => {
    const reason = 'long'.repeat(100)
    await stage.engine.call('POST', '/kill-switch', { body: { level: 3, reason } })
    await panel('Kill switch').getByText(reason).waitFor()
    expect(await violationsOn(stage.page)).toEqual([])
    await stage.page.setViewportSize(PHONE)
    expect(await overflowsOn(stage.page)).toBe(false)
    expect(stage.complaints).toEqual([])
  })
})
