import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { cleanUp, TOKEN, type Variables } from '../interface/service.ts'
import { launch, openPage, signIn } from './browser.ts'
import { startEngine, type PaperEngine } from './engine.ts'

/** What the tests of a file share: a running engine, a browser, and a page on which somebody is signed in. */
export interface Stage {
  browser: Browser
  engine: PaperEngine
  page: Page
  complaints: readonly string[]
  /** Stopped and started again with the same data, on the same ports. */
  readonly restart: (between?: () => Promise<void>) => Promise<void>
}

export interface StageOptions {
  readonly variables?: Variables
  /** Before anybody looks. */
  readonly prepare?: (engine: PaperEngine) => Promise<void>
  readonly path?: string
}

/** Set up before the first test of a file, taken down after the last. */
export const onStage = ({ variables = {}, prepare, path = '/' }: StageOptions = {}): Stage => {
  const restart = async (between?: () => Promise<void>): Promise<void> => {
    const { baseUrl, dashboardUrl, home } = stage.engine
    const ports = { SVC_API__PORT: new URL(baseUrl).port, SVC_DASHBOARD__PORT: new URL(dashboardUrl).port }
    await stage.engine.stop()
    await between?.()
    stage.engine = await startEngine({ ...variables, ...ports }, home)
  }
  // Filled before any test reads it.
  const stage = { restart } as Stage
  beforeAll(async () => {
    ;[stage.browser, stage.engine] = await Promise.all([launch(), startEngine(variables)])
    await prepare?.(stage.engine)
    const { dashboardUrl } = stage.engine
    const { page, complaints } = await openPage(stage.browser, dashboardUrl)
    stage.page = page
    stage.complaints = complaints
    await signIn(page, dashboardUrl + path, TOKEN)
  })
  afterAll(async () => {
    await stage.browser.close()
    await cleanUp()
  })
  return stage
}
