import { describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from '../interface/acts.ts'
import { TOKEN } from '../interface/service.ts'
import { BROWSER, openPage, overflowsOn, PHONE, signIn, violationsOn } from './browser.ts'
import { openPositions } from './engine.ts'
import { onStage } from './stage.ts'

const HOSTILE_NAME = '<img src=x onerror="document.title=1"> \u202Eeman'

describe.skipIf(BROWSER === undefined)('the brain, contributors and producers', () => {
  // Cycles by the clock would come at each half hour, and are counted here.
  const variables = { SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '86400' }
  const stage = onStage({ variables, prepare: openPositions })
  const go = async (path: string, title: string): Promise<void> => {
    await stage.page.goto(stage.engine.dashboardUrl + path)
    await stage.page.getByRole('heading', { name: title, level: 1 }).waitFor()
    await stage.page.getByText('Live', { exact: true }).waitFor()
  }

  it('runs a cycle, and the log of cycles grows by one', async () => {
    await go('/brain', 'Brain')
    const cycles = stage.page.getByRole('region', { name: 'Cycles' }).getByRole('row')
    await cycles.nth(1).waitFor()
    const before = await cycles.count()
    await stage.page.getByRole('button', { name: 'Run a cycle' }).click()
    await expect.poll(() => cycles.count()).toBe(before + 1)
    expect(await eventsOf(stage.engine, 'brain.cycle')).toHaveLength(before)
  })

  it('tells how many judgements became fills', async () => {
    const { length } = (await stage.engine.call('GET', '/intents?status=filled')).body as readonly object[]
    expect(length).toBeGreaterThan(1)
    const filled = stage.page
      .getByRole('region', { name: 'From judgement to fill' })
      .getByText('Filled')
      .locator('..')
    await expect.poll(() => filled.innerText()).toMatch(new RegExp(`Filled\\s+${length} `))
    await stage.page.getByRole('region', { name: 'List of intents' }).getByText('filled').first().waitFor()
  })

  it('explains a symbol: domains, signals and what would have changed it', async () => {
    await stage.page.getByRole('region', { name: 'Convictions' }).getByRole('button', { name: 'ETH' }).click()
    const sheet = stage.page.getByRole('dialog', { name: 'Why ETH?' })
    for (const name of ['Domains', 'Signals behind it', 'What would have changed it', 'Scores']) {
      await sheet.getByRole('heading', { name }).waitFor()
    }
    await sheet.getByRole('link', { name: /fan of ETH/ }).waitFor()
    expect(await violationsOn(stage.page)).toEqual([])
    await stage.page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
  })

  it('shows a cycle whole, and leads from it to the reasons and back', async () => {
    await stage.page.getByRole('region', { name: 'Cycles' }).getByRole('button').last().click()
    const cycle = stage.page.getByRole('dialog', { name: 'Cycle' })
    await cycle.getByRole('button', { name: 'Why SOL?' }).click()
    await stage.page.getByRole('dialog', { name: 'Why SOL?' }).waitFor()
    await stage.page.keyboard.press('Escape')
    await cycle.waitFor()
    await stage.page.keyboard.press('Escape')
  })

  it('says that cycles by hand wait while the kill switch is up', async () => {
    const move = (level: number) =>
      stage.engine.call('POST', '/kill-switch', { body: { level, reason: 'a test of the page' } })
    await move(1)
    await stage.page.getByText('Cycles by hand wait for level 0').waitFor()
    expect(await stage.page.getByRole('button', { name: 'Run a cycle' }).isDisabled()).toBe(true)
    await move(0)
    await stage.page.getByText('Cycles by hand wait for level 0').waitFor({ state: 'detached' })
    expect(await stage.page.getByRole('button', { name: 'Run a cycle' }).isEnabled()).toBe(true)
  })

  it('says what is wrong with a registration, registers, scores, and removes', async () => {
    await register(stage.engine, 'ann')
    await go('/contributors', 'Contributors')
    await stage.page.getByRole('button', { name: 'Register a contributor' }).click()
    const form = stage.page.getByRole('dialog', { name: 'Register a contributor' })
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

    await submit(stage.engine, 'mallory', {
      symbol: 'BTC',
      direction: 'bullish',
      conviction: 7,
      rationale: 'so',
    })
    const row = stage.page.getByRole('row', { name: /mallory/ })
    await expect.poll(() => row.innerText()).toMatch(/0 of 1/)
    await row.getByRole('button').click()
    const profile = stage.page.getByRole('dialog', { name: 'Contributor' })
    await profile.getByText(/conviction 7 of 10/).waitFor()
    for (const factor of ['Hit rate', 'Calibration', 'Volume', 'Consistency', 'Recency']) {
      await profile.getByText(factor, { exact: true }).first().waitFor()
    }
    expect(await stage.page.title()).toBe('Contributors – Signal Engine')
    expect(await violationsOn(stage.page)).toEqual([])

    await profile.getByRole('button', { name: 'Remove' }).click()
    await stage.page
      .getByRole('dialog', { name: 'Remove this contributor?' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await expect.poll(async () => (await eventsOf(stage.engine, 'contributor.removed')).length).toBe(1)
    await row.waitFor({ state: 'detached' })
  })

  it('registers a producer, shows its health and provenance, and removes it', async () => {
    await go('/producers', 'Producers')
    await stage.page.getByRole('button', { name: 'Register a producer' }).click()
    const form = stage.page.getByRole('dialog', { name: 'Register a producer' })
    await form.getByLabel('Name').fill('far-away')
    await form.getByLabel('Endpoint').fill('ftp://example.com')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.getByText(/must be an absolute http or https URL/).waitFor()
    await form.getByLabel('Endpoint').fill('https://example.com/signals')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.waitFor({ state: 'detached' })

    const row = stage.page.getByRole('row', { name: /far-away/ })
    await row.getByRole('button').click()
    const sheet = stage.page.getByRole('dialog', { name: 'far-away' })
    await sheet.getByText('https://example.com/signals').waitFor()
    await sheet.getByText('No signal of it has arrived yet.').waitFor()
    expect(await violationsOn(stage.page)).toEqual([])
    await sheet.getByRole('button', { name: 'Remove' }).click()
    await stage.page
      .getByRole('dialog', { name: 'Remove this producer?' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await row.waitFor({ state: 'detached' })

    await stage.page
      .getByRole('row', { name: /ticker/ })
      .getByRole('button')
      .click()
    await stage.page.getByRole('dialog', { name: 'ticker' }).getByText('newest events verified').waitFor()
    await stage.page.keyboard.press('Escape')
  })

  it('fits a phone, with sheets open', async () => {
    const phone = await openPage(stage.browser, stage.engine.dashboardUrl, {
      viewport: PHONE,
      isMobile: true,
    })
    await signIn(phone.page, stage.engine.dashboardUrl, TOKEN)
    const { convictions } = (await stage.engine.call('GET', '/brain/explain/last')).body as {
      convictions: { conviction_id: string }[]
    }
    for (const [path, text] of [
      [`/brain?why=${convictions[0]?.conviction_id ?? ''}`, 'Signals behind it'],
      ['/contributors?form=register', 'Node id'],
      ['/producers?producer=ticker', 'Provenance'],
    ] as const) {
      await phone.page.goto(stage.engine.dashboardUrl + path)
      await phone.page.getByRole('dialog').getByText(text, { exact: true }).waitFor()
      expect(await overflowsOn(phone.page), path).toBe(false)
    }
    expect(phone.complaints).toEqual([])
    await phone.close()
  })

  it('shows level and regime on a phone, whatever sheet is open', async () => {
    const phone = await openPage(stage.browser, stage.engine.dashboardUrl, {
      viewport: PHONE,
      isMobile: true,
    })
    await signIn(phone.page, stage.engine.dashboardUrl, TOKEN)
    await phone.page.goto(`${stage.engine.dashboardUrl}/producers?producer=ticker`)
    await phone.page.getByRole('dialog', { name: 'ticker' }).waitFor()
    const boxOf = async (selector: string) => {
      const box = await phone.page.locator(selector).filter({ visible: true }).boundingBox()
      if (box === null) throw new Error(`${selector} is not to be seen`)
      return { top: box.y, bottom: box.y + box.height }
    }
    const sheet = await boxOf('[role=dialog]')
    expect((await boxOf('header [title*=regime i], header [title*=market i]')).bottom).toBeLessThanOrEqual(
      sheet.top,
    )
    const level = await boxOf('nav button:has-text("Kill switch")')
    expect(level.top).toBeGreaterThanOrEqual(sheet.bottom)
    expect(level.bottom).toBeLessThanOrEqual(PHONE.height)
    await phone.close()
  })

  it('never made the page complain', () => {
    expect(stage.complaints).toEqual([])
  })
})
