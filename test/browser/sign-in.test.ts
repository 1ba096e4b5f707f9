import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register, submit } from '../interface/acts.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, signInByForm, violationsOn, closePages } from './browser.fixture.ts'
import { startEngine, type RunningEngine } from './engine.fixture.ts'

describe.skipIf(BROWSER === undefined)('signing in', () => {
  let browser: Browser
  let engine: RunningEngine
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
  })
  afterAll(async () => {
    await closePages(browser)
    await cleanUp()
  })

  it('refuses a wrong token, lets the right one in, and ends with a sign-out', async () => {
    const { page, problems, close } = await openPage(browser, engine.dashboardUrl)
    await page.goto(`${engine.dashboardUrl}/risk`)
    expect(await violationsOn(page)).toEqual([])
    await page.fill('#token', 'wrong')
    await page.click('button[type=submit]')
    expect(await page.getByRole('alert').textContent()).toContain('not the API token')
    expect(await page.context().cookies()).toEqual([])

    await page.fill('#token', TOKEN)
    await page.click('button[type=submit]')
    await page.getByRole('heading', { name: 'Risk', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/risk')
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: 'svc_session', httpOnly: true, sameSite: 'Strict' })
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    )
    expect(stored + page.url() + (await page.content())).not.toContain(TOKEN)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API token').waitFor()
    expect(await page.context().cookies()).toEqual([])
    expect(problems).toEqual([])
    await close()
  })

  it('shows that the session is over, and returns to the same page', async () => {
    const { page, problems, close } = await openPage(browser, engine.dashboardUrl)
    await signInByForm(page, `${engine.dashboardUrl}/signals?symbol=BTC`, TOKEN)
    await page.context().clearCookies()
    // The open stream does not notice; the first request does.
    await page.getByRole('navigation').getByRole('link', { name: 'Risk' }).click()
    const banner = page.getByRole('alert').filter({ hasText: 'The session is over' }).first()
    await banner.getByText('This page shows the last known state.').waitFor()
    await page.getByText('Signed out', { exact: true }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.goBack()
    await banner.getByRole('button', { name: 'Sign in again' }).click()
    await page.getByLabel('API token').fill(TOKEN)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(page.url()).toBe(`${engine.dashboardUrl}/signals?symbol=BTC`)
    expect(problems).toEqual([])
    await close()
  })

  it('continues after a sign-in in another tab, with every event once', async () => {
    const { page, problems, close } = await openPage(browser, engine.dashboardUrl)
    await signInByForm(page, `${engine.dashboardUrl}/signals`, TOKEN)
    await register(engine, 'ann')
    await page.context().clearCookies()
    await page.getByLabel('Symbol').fill('BTC')
    await page.getByText('Signed out', { exact: true }).waitFor()
    await page.getByLabel('Symbol').fill('')
    for (const rationale of ['one', 'two']) await submit(engine, 'ann', { symbol: 'BTC', rationale })
    const other = await page.context().newPage()
    await signInByForm(other, engine.dashboardUrl, TOKEN)
    await page.getByText('Live', { exact: true }).waitFor()
    await submit(engine, 'ann', { symbol: 'BTC', rationale: 'three' })
    const rows = page.getByRole('region', { name: 'Signals', exact: true }).getByRole('listitem')
    await rows.getByText('three').waitFor()
    expect(
      await rows
        .locator('bdi:last-of-type')
        .filter({ hasText: /^(one|two|three)$/ })
        .allTextContents(),
    ).toEqual(['three', 'two', 'one'])
    expect(problems).toEqual([])
    await close()
  })

  it('explains why it asks when the session did not survive a restart', async () => {
    const { page, close } = await openPage(browser, engine.dashboardUrl)
    await page
      .context()
      .addCookies([{ name: 'svc_session', value: 'of-another-key', url: engine.dashboardUrl }])
    await page.goto(`${engine.dashboardUrl}/audit?type=signal`)
    await page.getByRole('alert').filter({ hasText: 'The session is over' }).waitFor()
    await page.getByLabel('API token').fill(TOKEN)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    expect(page.url()).toBe(`${engine.dashboardUrl}/audit?type=signal`)
    await close()
  })
})
