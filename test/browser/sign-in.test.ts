import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, signIn, violationsOn } from './browser.ts'
import { startEngine, type PaperEngine } from './engine.ts'

describe.skipIf(BROWSER === undefined)('signing in', () => {
  let browser: Browser
  let engine: PaperEngine
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })

  it('refuses a wrong token, lets the right one in, and ends with a sign-out', async () => {
    const { page, complaints, close } = await openPage(browser, engine.dashboardUrl)
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
    expect(complaints).toEqual([])
    await close()
  })

  it('ends when the session ends, and says so', async () => {
    const { page, close } = await openPage(browser, engine.dashboardUrl)
    await signIn(page, engine.dashboardUrl, TOKEN)
    await page.context().clearCookies()
    await page.getByRole('navigation').getByRole('link', { name: 'Risk' }).click()
    await page.reload()
    await page.getByLabel('API token').waitFor()
    await close()
  })
})
