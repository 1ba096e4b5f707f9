import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { cleanUp, TOKEN, type Variables } from '../interface/service.ts'
import { launch, openPage, signIn, closePages } from './browser.fixture.ts'
import { startEngine, type RunningEngine } from './engine.fixture.ts'

/** Shared by the tests of a file: a running engine, a browser, and a signed-in page. */
export interface SignedInPage {
  browser: Browser
  engine: RunningEngine
  page: Page
  problems: readonly string[]
  /** Stops the engine and starts it again with the same data, on the same ports. */
  readonly restart: (between?: () => Promise<void>) => Promise<void>
}

export interface SignedInPageOptions {
  readonly variables?: Variables
  /** Called before the page is opened. */
  readonly prepare?: (engine: RunningEngine) => Promise<void>
  readonly path?: string
}

/** Starts everything before the first test of a file, and closes it after the last. */
export const useSignedInPage = ({
  variables = {},
  prepare,
  path = '/',
}: SignedInPageOptions = {}): SignedInPage => {
  const restart = async (between?: () => Promise<void>): Promise<void> => {
    const { baseUrl, dashboardUrl, home } = dashboard.engine
    const ports = { SVC_API__PORT: new URL(baseUrl).port, SVC_DASHBOARD__PORT: new URL(dashboardUrl).port }
    await dashboard.engine.stop()
    await between?.()
    dashboard.engine = await startEngine({ ...variables, ...ports }, home)
  }
  // Assigned before any test reads it.
  const dashboard = { restart } as SignedInPage
  beforeAll(async () => {
    ;[dashboard.browser, dashboard.engine] = await Promise.all([launch(), startEngine(variables)])
    await prepare?.(dashboard.engine)
    const { dashboardUrl } = dashboard.engine
    const { page, problems } = await openPage(dashboard.browser, dashboardUrl)
    dashboard.page = page
    dashboard.problems = problems
    await signIn(page, dashboardUrl + path, TOKEN)
  })
  afterAll(async () => {
    await closePages(dashboard.browser)
    await cleanUp()
  })
  return dashboard
}
