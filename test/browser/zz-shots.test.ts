import { describe, it } from 'vitest'
import { register, submit } from '../interface/acts.ts'
import { BROWSER, launch, openPage, PAGES, settled, signIn } from './browser.fixture.ts'
import { openPositions, startEngine, LIVELY } from './engine.fixture.ts'
import { cleanUp, TOKEN } from '../interface/service.ts'
import { setTimeout as sleep } from 'node:timers/promises'

describe('shots', () => {
  it('takes', async () => {
    const browser = await launch()
    const engine = await startEngine(
      process.env['SHOTS_LIVELY'] ? LIVELY : { SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '86400' },
    )
    if (process.env['SHOTS_LIVELY']) {
      await sleep(40_000)
    } else await openPositions(engine)
    await register(engine, 'mallory')
    await submit(engine, 'mallory', {
      symbol: 'BTC',
      direction: 'bearish',
      conviction: 3,
      rationale: '<b>hostile</b> ' + 'very long '.repeat(200),
    })
    const only = process.env['SHOTS_ONLY']?.split(',')
    for (const [name, viewport] of [
      ['desktop', { width: 1440, height: 900 }],
      ['phone', { width: 390, height: 844 }],
    ] as const) {
      const { page, close, problems } = await openPage(browser, engine.dashboardUrl, {
        viewport,
        isMobile: name === 'phone',
        hasTouch: name === 'phone',
      })
      await signIn(page, engine.dashboardUrl, TOKEN)
      for (const [path, title] of PAGES) {
        if (only && !only.includes(title)) continue
        await page.goto(engine.dashboardUrl + path)
        await settled(page, title)
        await page.screenshot({ path: `/tmp/wt/shots/${title.toLowerCase()}-${name}.png`, fullPage: true })
      }
      console.log(name, problems)
      await close()
    }
    await browser.close()
    await cleanUp()
  }, 400_000)
})
