import { describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from '../interface/acts.ts'
import { TOKEN } from '../interface/service.ts'
import { BROWSER, openPage, overflowsOn, PHONE, signIn, violationsOn, visit } from './browser.fixture.ts'
import { openPositions } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

const HOSTILE_NAME = '<img src=x onerror="document.title=1"> name'

describe.skipIf(BROWSER === undefined)('the brain, contributors and producers', () => {
  // Cycles are counted here, so none may run on schedule.
  const variables = { SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '86400' }
  const dashboard = useSignedInPage({ variables, prepare: openPositions })
  const go = async (path: string, title: string): Promise<void> => {
    await visit(dashboard.page, path)
    await dashboard.page.getByRole('heading', { name: title, level: 1 }).waitFor()
    await dashboard.page.getByText('Live', { exact: true }).waitFor()
  }

  it('runs a cycle, and the cycle log grows by one', async () => {
    await go('/brain', 'Brain')
    const cycles = dashboard.page.getByRole('region', { name: 'Cycles' }).getByRole('row')
    await cycles.nth(1).waitFor()
    const before = await cycles.count()
    await dashboard.page.getByRole('button', { name: 'Run a cycle' }).click()
    await expect.poll(() => cycles.count()).toBe(before + 1)
    expect(await eventsOf(dashboard.engine, 'brain.cycle')).toHaveLength(before)
  })

  it('shows how many convictions became fills', async () => {
    const { length } = (await dashboard.engine.call('GET', '/intents?status=filled'))
      .body as readonly object[]
    expect(length).toBeGreaterThan(1)
    const filled = dashboard.page
      .getByRole('region', { name: 'From conviction to fill' })
      .getByText('Filled')
      .locator('..')
    await expect.poll(() => filled.innerText()).toMatch(new RegExp(`Filled\\s+${length} `))
    await dashboard.page
      .getByRole('region', { name: 'List of intents' })
      .getByText('filled')
      .first()
      .waitFor()
  })

  it('explains a symbol: domains, signals and what would have changed it', async () => {
    await dashboard.page
      .getByRole('region', { name: 'Convictions' })
      .getByRole('button', { name: 'ETH' })
      .click()
    const sheet = dashboard.page.getByRole('dialog', { name: 'Why ETH?' })
    for (const name of ['Domains', 'Signals behind it', 'What would have changed it', 'Scores']) {
      await sheet.getByRole('heading', { name }).waitFor()
    }
    await sheet.getByRole('link', { name: /fan of ETH/ }).waitFor()
    expect(await violationsOn(dashboard.page)).toEqual([])
    await dashboard.page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
  })

  it('shows a cycle, and leads from it to an explanation and back', async () => {
    await dashboard.page.getByRole('region', { name: 'Cycles' }).getByRole('button').last().click()
    const cycle = dashboard.page.getByRole('dialog', { name: 'Cycle' })
    await cycle.getByRole('button', { name: 'Why SOL?' }).click()
    await dashboard.page.getByRole('dialog', { name: 'Why SOL?' }).waitFor()
    await dashboard.page.keyboard.press('Escape')
    await cycle.waitFor()
    await dashboard.page.keyboard.press('Escape')
  })

  it('refuses manual cycles while the kill switch is raised', async () => {
    const move = (level: number) =>
      dashboard.engine.call('POST', '/kill-switch', { body: { level, reason: 'test' } })
    await move(1)
    await dashboard.page.getByText('Manual cycles need level 0').waitFor()
    expect(await dashboard.page.getByRole('button', { name: 'Run a cycle' }).isDisabled()).toBe(true)
    await move(0)
    await dashboard.page.getByText('Manual cycles need level 0').waitFor({ state: 'detached' })
    expect(await dashboard.page.getByRole('button', { name: 'Run a cycle' }).isEnabled()).toBe(true)
  })

  it('validates a registration, registers, scores and removes a contributor', async () => {
    await register(dashboard.engine, 'ann')
    await go('/contributors', 'Contributors')
    await dashboard.page.getByRole('button', { name: 'Register a contributor' }).click()
    const form = dashboard.page.getByRole('dialog', { name: 'Register a contributor' })
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

    await submit(dashboard.engine, 'mallory', {
      symbol: 'BTC',
      direction: 'bullish',
      conviction: 7,
      rationale: 'so',
    })
    const row = dashboard.page.getByRole('row', { name: /mallory/ })
    await expect.poll(() => row.innerText()).toMatch(/0 of 1/)
    await row.getByRole('button').click()
    const profile = dashboard.page.getByRole('dialog', { name: 'Contributor' })
    await profile.getByText(/conviction 7 of 10/).waitFor()
    for (const factor of ['Hit rate', 'Calibration', 'Volume', 'Consistency', 'Recency']) {
      await profile.getByText(factor, { exact: true }).first().waitFor()
    }
    expect(await dashboard.page.title()).toMatch(/^\(\d+\) Contributors – Signal Engine$/)
    expect(await violationsOn(dashboard.page)).toEqual([])

    await profile.getByRole('button', { name: 'Remove' }).click()
    await dashboard.page
      .getByRole('dialog', { name: 'Remove this contributor?' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await expect.poll(async () => (await eventsOf(dashboard.engine, 'contributor.removed')).length).toBe(1)
    await row.waitFor({ state: 'detached' })
  })

  it('registers a producer, shows its health and provenance, and removes it', async () => {
    await go('/producers', 'Producers')
    await dashboard.page.getByRole('button', { name: 'Register a producer' }).click()
    const form = dashboard.page.getByRole('dialog', { name: 'Register a producer' })
    await form.getByLabel('Name').fill('far-away')
    await form.getByLabel('Endpoint').fill('ftp://example.com')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.getByText(/must be an absolute http or https URL/).waitFor()
    await form.getByLabel('Endpoint').fill('https://example.com/signals')
    await form.getByRole('button', { name: 'Register' }).click()
    await form.waitFor({ state: 'detached' })

    const row = dashboard.page.getByRole('row', { name: /far-away/ })
    await row.getByRole('button').click()
    const sheet = dashboard.page.getByRole('dialog', { name: 'far-away' })
    await sheet.getByText('https://example.com/signals').waitFor()
    await sheet.getByText('No signals from it yet.').waitFor()
    expect(await violationsOn(dashboard.page)).toEqual([])
    await sheet.getByRole('button', { name: 'Remove' }).click()
    await dashboard.page
      .getByRole('dialog', { name: 'Remove this producer?' })
      .getByRole('button', { name: 'Remove' })
      .click()
    await row.waitFor({ state: 'detached' })

    await dashboard.page
      .getByRole('row', { name: /ticker/ })
      .getByRole('button')
      .click()
    await dashboard.page.getByRole('dialog', { name: 'ticker' }).getByText('newest events verified').waitFor()
    await dashboard.page.keyboard.press('Escape')
  })

  it('fits a phone, with sheets open', async () => {
    const phone = await openPage(dashboard.browser, dashboard.engine.dashboardUrl, {
      viewport: PHONE,
      isMobile: true,
    })
    await signIn(phone.page, dashboard.engine.dashboardUrl, TOKEN)
    const { convictions } = (await dashboard.engine.call('GET', '/brain/explain/last')).body as {
      convictions: { conviction_id: string }[]
    }
    for (const [path, text] of [
      [`/brain?why=${convictions[0]?.conviction_id ?? ''}`, 'Signals behind it'],
      ['/contributors?form=register', 'Node id'],
      ['/producers?producer=ticker', 'Provenance'],
    ] as const) {
      await visit(phone.page, path)
      await phone.page.getByRole('dialog').getByText(text, { exact: true }).waitFor()
      expect(await overflowsOn(phone.page), path).toBe(false)
    }
    expect(phone.problems).toEqual([])
    await phone.close()
  })

  it('shows level and regime on a phone, whatever sheet is open', async () => {
    const phone = await openPage(dashboard.browser, dashboard.engine.dashboardUrl, {
      viewport: PHONE,
      isMobile: true,
    })
    await signIn(phone.page, dashboard.engine.dashboardUrl, TOKEN)
    await visit(phone.page, '/producers?producer=ticker')
    await phone.page.getByRole('dialog', { name: 'ticker' }).waitFor()
    // Another badge is shown until the regime is known.
    await phone.page.locator(REGIME).waitFor()
    const boxOf = async (selector: string) => {
      const box = await phone.page.locator(selector).filter({ visible: true }).boundingBox()
      if (box === null) throw new Error(`${selector} is not visible`)
      return { top: box.y, bottom: box.y + box.height }
    }
    const sheet = await boxOf('[role=dialog]')
    expect((await boxOf(REGIME)).bottom).toBeLessThanOrEqual(sheet.top)
    const level = await boxOf('nav button:has-text("Kill switch")')
    expect(level.top).toBeGreaterThanOrEqual(sheet.bottom)
    expect(level.bottom).toBeLessThanOrEqual(PHONE.height)
    await phone.close()
  })

  it('has no errors on the page', () => {
    expect(dashboard.problems).toEqual([])
  })
})

const REGIME = 'header [title="Market regime"]'
