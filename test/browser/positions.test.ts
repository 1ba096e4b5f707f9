import { describe, expect, it } from 'vitest'
import { BROWSER, overflowsOn, PHONE, violationsOn } from './browser.ts'
import { openPositions } from './engine.ts'
import { onStage } from './stage.ts'

describe.skipIf(BROWSER === undefined)('the positions page', () => {
  const stage = onStage({ prepare: openPositions, path: '/positions' })
  const open = () => stage.page.getByRole('region', { name: 'Open positions' }).getByRole('table')
  const closed = () => stage.page.getByRole('region', { name: 'Closed positions' }).getByRole('table')

  it('shows what is open and what is closed', async () => {
    await open()
      .getByRole('row', { name: /ETH long/ })
      .waitFor()
    await closed()
      .getByRole('row', { name: /SOL long take profit/ })
      .waitFor()
    await stage.page.getByText('1 of 1 closed').waitFor()
    expect(await violationsOn(stage.page)).toEqual([])
  })

  it('shows the price, the reasons and the events of a trade', async () => {
    await closed().getByRole('button', { name: /SOL/ }).click()
    const sheet = stage.page.getByRole('dialog', { name: 'SOL long' })
    await sheet
      .getByRole('img', { name: /Price of SOL: entry at 100.*stop at.*target at.*exit at/ })
      .waitFor()
    await sheet.getByText('fan of SOL').waitFor()
    await sheet.getByRole('link', { name: /execution.position_closed.v1/ }).waitFor()
    expect(await sheet.getByRole('button', { name: 'Close position' }).count()).toBe(0)
    expect(await violationsOn(stage.page)).toEqual([])
    await stage.page.keyboard.press('Escape')
  })

  it('closes all only with a reason and a word', async () => {
    await stage.page.getByRole('button', { name: 'Close all' }).click()
    const dialog = stage.page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Close all' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Type CLOSE to confirm').fill('close')
    await confirm.click()
    await stage.page.getByText('No open positions').waitFor()
    await closed()
      .getByRole('row', { name: /ETH long manual/ })
      .waitFor()
    expect((await stage.engine.call('GET', '/positions')).body).toEqual([])
  })

  it('fits a phone and never complains', async () => {
    await stage.page.setViewportSize(PHONE)
    expect(await overflowsOn(stage.page)).toBe(false)
    expect(stage.complaints).toEqual([])
  })
})
