import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { eventsOf, register, submit } from '../interface/acts.ts'
import { BROWSER } from './browser.fixture.ts'
import { headSeq } from './engine.fixture.ts'
import { useSignedInPage } from './signed-in-page.fixture.ts'

describe.skipIf(BROWSER === undefined)('the live updates', () => {
  const dashboard = useSignedInPage({
    prepare: async (engine) => void (await register(engine, 'ann')),
    path: '/signals',
  })
  const submitSignal = (rationale: string): Promise<string> =>
    submit(dashboard.engine, 'ann', { symbol: 'BTC', rationale })

  /** Submits 100 events a second. A submission is three events: the signal, its attribution and the audit. */
  const flood = async (rounds: number): Promise<Flood> => {
    let requests = 0
    const busy = await busyTimeOf(dashboard.page)
    const count = (): number => (requests += 1)
    dashboard.page.on('request', count)
    await dashboard.page.evaluate(`{${WATCH}}`)
    const startedMs = performance.now()
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(Array.from({ length: 8 }, (_, index) => submitSignal(`round ${round}, ${index}`)))
      await sleep(Math.max(0, startedMs + (round + 1) * ROUND_MS - performance.now()))
    }
    dashboard.page.off('request', count)
    return { seconds: (performance.now() - startedMs) / 1000, requests, busySeconds: await busy() }
  }

  it('keeps up with 100 events a second, and draws only what can be seen', async () => {
    const { page, engine } = dashboard
    await page.getByText('No signals yet').waitFor()
    const before = (await headSeq(engine)) - (await counted(page))
    const { seconds, requests, busySeconds } = await flood(ROUNDS)
    await expect.poll(() => counted(page)).toBe((await headSeq(engine)) - before)
    const watched = await page.evaluate<ObservedPage>('watched')

    // The numbers of requests and nodes are independent of the number of events.
    expect(requests).toBeLessThan(5 * seconds + 30)
    expect(watched.nodesMax).toBeLessThan(1500)
    expect(watched.rowsMax).toBeGreaterThan(10)
    expect(watched.rowsMax).toBeLessThan(60)
    // A signal is drawn once and moved by later ones. Nothing around the list is redrawn.
    expect(watched.outsideAdded).toBeLessThan(50)
    // Measured: 5 to 9 % of the time.
    expect(busySeconds).toBeLessThan(seconds * BUSY_SHARE_MAX)
    expect(dashboard.problems).toEqual([])
  })

  it('shows every signal once, in the order of the log', async () => {
    const { page, engine } = dashboard
    await page.getByText(`${8 * ROUNDS} signals in total`).waitFor()
    const stored = (await eventsOf(engine, 'signal')).map(({ payload }) => payload['rationale'])
    expect(stored).toHaveLength(8 * ROUNDS)
    expect(await listedTexts(page)).toEqual(stored)
  })

  it('reconnects after a restart, with every event once', async () => {
    const { page } = dashboard
    const before = (await headSeq(dashboard.engine)) - (await counted(page))
    await submitSignal('before the restart')
    await dashboard.restart(async () => {
      await page.getByText('No connection to the service').waitFor()
      await page
        .getByText(/^stale/)
        .first()
        .waitFor()
    })
    await submitSignal('after the restart')
    await page.getByText('Live', { exact: true }).waitFor()
    const isUpToDate = async (): Promise<void> => {
      const missing = async () => before + (await counted(page)) - (await headSeq(dashboard.engine))
      await expect.poll(missing).toBe(0)
    }
    await isUpToDate()
    await submitSignal('later')
    await isUpToDate()
    const stored = (await eventsOf(dashboard.engine, 'signal')).map(({ payload }) => payload['rationale'])
    expect(await listedTexts(page)).toEqual(stored)
    expect(stored.slice(0, 3)).toEqual(['later', 'after the restart', 'before the restart'])
  })

  it('keeps up on the overview, where every panel updates', async () => {
    const { page } = dashboard
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click()
    // Panel and list share the name. The list exists once there are signals.
    await page.getByRole('region', { name: 'Newest signals', exact: true }).waitFor()
    const before = (await headSeq(dashboard.engine)) - (await counted(page))
    const { seconds, requests, busySeconds } = await flood(10)
    await expect.poll(() => counted(page)).toBe((await headSeq(dashboard.engine)) - before)
    const watched = await page.evaluate<ObservedPage>('watched')
    expect(requests).toBeLessThan(12 * seconds + 30)
    expect(watched.nodesMax).toBeLessThan(2000)
    expect(busySeconds).toBeLessThan(seconds * BUSY_SHARE_MAX)
  })
})

interface Flood {
  readonly seconds: number
  readonly requests: number
  /** Processor time of the page's main thread. A busy machine does not affect it. */
  readonly busySeconds: number
}

const BUSY_SHARE_MAX = 0.3

/** Starts measuring the processor time of the page's main thread. The returned function reads it. */
const busyTimeOf = async (page: Page): Promise<() => Promise<number>> => {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  const read = async (): Promise<number> => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
  }
  const before = await read()
  return async () => {
    const seconds = (await read()) - before
    await cdp.detach()
    return seconds
  }
}

const ROUNDS = 25

/** 24 events of 8 submissions at 100 events a second. */
const ROUND_MS = 240

/** Number of events that the page counted since it was loaded. */
const counted = async (page: Page): Promise<number> => {
  const title = await page.getByTitle(/events since the page was loaded$/).getAttribute('title')
  return Number.parseInt(title ?? '', 10)
}

interface ObservedPage {
  readonly nodesMax: number
  readonly rowsMax: number
  /** Elements that were added outside of the list. */
  readonly outsideAdded: number
}

const WATCH = `
  for (const observer of globalThis.observers ?? []) observer.disconnect()
  globalThis.watched = { nodesMax: 0, rowsMax: 0, outsideAdded: 0 }
  const inList = (node) => node.parentElement?.closest('[role=region][aria-label=Signals]') !== null
  const mutations = new MutationObserver((records) => {
    for (const { target, addedNodes } of records)
      for (const node of addedNodes)
        if (node.nodeType === 1 && !inList(target) && target.isConnected) watched.outsideAdded += 1
    watched.nodesMax = Math.max(watched.nodesMax, document.querySelectorAll('*').length)
    watched.rowsMax = Math.max(watched.rowsMax, document.querySelectorAll('[aria-label=Signals] li').length)
  })
  mutations.observe(document.body, { childList: true, subtree: true })
  globalThis.observers = [mutations]`

/** The text of every row, in order. Scrolls from top to bottom, because only visible rows are drawn. */
const listedTexts = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`(async () => {
    const list = document.querySelector('[role=region][aria-label=Signals]')
    const texts = new Map()
    for (let scrolled = 0; scrolled <= list.scrollHeight; scrolled += 250) {
      list.scrollTop = scrolled
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      for (const row of list.querySelectorAll('li')) {
        const text = [...row.querySelectorAll('bdi')].at(-1).textContent
        const top = row.offsetTop
        if (texts.has(top) && texts.get(top) !== text) throw new Error('two rows at the same position')
        texts.set(top, text)
      }
    }
    list.scrollTop = 0
    return [...texts].toSorted(([one], [other]) => one - other).map(([, text]) => text)
  })()`)
