import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from '../interface/acts.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { BROWSER, launch, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { openPositions, startEngine, type PaperEngine } from './engine.ts'

/** A page asks for the same thing once a second at most. */
const PATIENT = { timeout: 10_000 }

const HOSTILE_NAME = '<img src=x onerror="document.title=1"> \u202Eeman'

describe.skipIf(BROWSER === undefined)('the brain, contributors and producers', () => {
  let browser: Browser
  let engine: PaperEngine
  let page: Page
  let complaints: readonly string[]
  beforeAll(async () => {
    ;[browser, engine] = await Promise.all([launch(), startEngine()])
    await openPositions(engine)
    ;({ page, complaints } = await openPage(browser, engine.dashboardUrl))
    await signIn(page, engine.dashboardUrl, TOKEN)
  })
  afterAll(async () => {
    await browser.close()
    await cleanUp()
  })
  const go = async (path: string, title: string): Promise<void> => {
    await page.goto(engine.dashboardUrl + path)
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
  }

  it('runs a cycle, and the log of cycles grows by one', async () => {
    await go('/brain', 'Brain')
    const cycles = page.getByRole('region', { name: 'Cycles' }).getByRole('row')
    await cycles.nth(1).waitFor()
    const before = await cycles.count()
    await page.getByRole('button', { name: 'Run a cycle' }).click()
    await expect.poll(() => cycles.count(), PATIENT).toBe(before + 1)
    expect(await eventsOf(engine, 'brain.cycle')).toHaveLength(before)
  })

  it('tells how many judgements became fills', async () => {
    const { length } = (await engine.call('GET', '/intents?status=filled')).body as readonly object[]
    expect(length).toBeGreaterThan(1)
    const filled = page
      .getByRole('region', { name: 'From judgement to fill' })
      .getByText('Filled')
      .locator('..')
    await expect.poll(() => filled.innerText(), PATIENT).toMatch(new RegExp(`Filled\\s+${length} `))
    await page.getByRole('region', { name: 'List of intents' }).getByText('filled').first().waitFor()
  })

  it('explains a symbol: domains, signals and what would have changed it', async () => {
    await page.getByRole('region', { name: 'Convictions' }).getByRole('button', { name: 'ETH' }).click()
    const sheet = page.getByRole('dialog', { name: 'Why ETH?' })
    for (const name of ['Domains', 'Signals behind it', 'What would have changed it', 'Scores']) {
      await sheet.getByRole('heading', { name }).waitFor()
    }
    await sheet.getByRole('link', { name: /fan of ETH/ }).waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
  })

  it('shows a cycle whole, and leads from it to the reasons and back', async () => {
    await page.getByRole('region', { name: 'Cycles' }).getByRole('button').last().click()
    const cycle = page.getByRole('dialog', { name: 'Cycle' })
    await cycle.getByRole('button', { name: 'Why SOL?' }).click()
    await page.getByRole('dialog', { name: 'Why SOL?' }).waitFor()
    await page.keyboard.press('Escape')
    await cycle.waitFor()
    await page.keyboard.press('Escape')
  })

  it('says that cycles by hand wait while the kill switch is up', async () => {
    const move = (level: number) =>
      engine.call('POST', '/kill-switch', { body: { level, reason: 'a test of the page' } })
    await move(1)
    await page.getByText('Cycles by hand wait for level 0').waitFor()
    expect(await page.getByRole('button', { name: 'Run a cycle' }).isDisabled()).toBe(true)
    await move(0)
    await page.getByText('Cycles by hand wait for level 0').waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Run a cycle' }).isEnabled()).toBe(true)
  })

  it('says what is wrong with a registration, registers, scores, and removes', async () => {
    await register(engine, 'ann')
    await go('/contributors', 'Contributors')
    await page.getByRole('button', { name: 'Register a contributor' }).click()
    const form = page.getByRole('dialog', { name: 'Register a contributor' })
    await form.getByLabel('Node id').fill('ann')
    await form.getByLabel('Name', { exact: true }).fill(HOSTILE_NAME)
    await form.getByLabel('Metadata').fill('{"no":')
    await form.getByText('This is not a JSON object').waitFor()
    await form.getByLabel('Metadata').fill('{"site":"https://example.com"}')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.getByText('This node id is taken').waitFor()
    await form.getByLabel('Node id').fill('mallory')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.waitFor({ state: 'detached' })

    await submit(engine, 'mallory', { symbol: 'BTC', direction: 'bullish', conviction: 7, rationale: 'so' })
    const row = page.getByRole('row', { name: /mallory/ })
    await expect.poll(() => row.innerText(), PATIENT).toMatch(/0 of 1/)
    await row.getByRole('button').click()
    const profile = page.getByRole('dialog', { name: 'Contributor' })
    await profile.getByText(/conviction 7 of 10/).waitFor()
    for (const factor of ['Hit rate', 'Calibration', 'Volume', 'Consistency', 'Recency']) {
      await profile.getByText(factor, { exact: true }).first().waitFor()
    }
    expect(await page.title()).toBe('Contributors – Signal Engine')
    expect(await violationsOn(page)).toEqual([])

    await profile.getByRole('button', { name: 'Remove' }).click()
    await page
      .getByRole('dialog', { name: 'Remove this contributor?' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await expect.poll(async () => (await eventsOf(engine, 'contributor.removed')).length).toBe(1)
    await row.waitFor({ state: 'detached' })
  })

  it('registers a producer, shows its health and provenance, and removes it', async () => {
    await go('/producers', 'Producers')
    await page.getByRole('button', { name: 'Register a producer' }).click()
    const form = page.getByRole('dialog', { name: 'Register a producer' })
    await form.getByLabel('Name').fill('far-away')
    await form.getByLabel('Endpoint').fill('ftp://example.com')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.getByText(/must be an absolute http or https URL/).waitFor()
    await form.getByLabel('Endpoint').fill('https://example.com/signals')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.waitFor({ state: 'detached' })

    const row = page.getByRole('row', { name: /far-away/ })
    await row.getByRole('button').click()
    const sheet = page.getByRole('dialog', { name: 'far-away' })
    await sheet.getByText('https://example.com/signals').waitFor()
    await sheet.getByText('No signal of it has arrived yet.').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await sheet.getByRole('button', { name: 'Remove' }).click()
    await page
      .getByRole('dialog', { name: 'Remove this producer?' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await row.waitFor({ state: 'detached' })

    await page
      .getByRole('row', { name: /ticker/ })
      .getByRole('button')
      .click()
    await page.getByRole('dialog', { name: 'ticker' }).getByText('newest events verified').waitFor()
    await page.keyboard.press('Escape')
  })

  it('fits a phone, with sheets open', async () => {
    const phone = await openPage(browser, engine.dashboardUrl, { viewport: PHONE, isMobile: true })
    await signIn(phone.page, engine.dashboardUrl, TOKEN)
    const { convictions } = (await engine.call('GET', '/brain/explain/last')).body as {
      convictions: { conviction_id: string }[]
    }
    for (const [path, text] of [
      [`/brain?why=${convictions[0]?.conviction_id ?? ''}`, 'Signals behind it'],
      ['/contributors?form=register', 'Node id'],
      ['/producers?producer=ticker', 'Provenance'],
    ] as const) {
      await phone.page.goto(engine.dashboardUrl + path)
      await phone.page.getByRole('dialog').getByText(text, { exact: true }).waitFor()
      expect(await overflowsOn(phone.page), path).toBe(false)
    }
    expect(phone.complaints).toEqual([])
    await phone.close()
  })

  it('never made the page complain', () => {
    expect(complaints).toEqual([])
  })
})
