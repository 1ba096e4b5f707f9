import { expect, vi } from 'vitest'
import { emit, registerProducer } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import {
  dashboardUrlOf,
  newHome,
  startProcess,
  startService,
  type RunningService,
  type ServiceProcess,
  type Variables,
} from '../interface/service.ts'

export interface RunningEngine extends RunningService {
  readonly dashboardUrl: string
}

/** A fast simulated market. */
export const LIVELY: Variables = {
  SVC_MARKET__FEED: 'simulated',
  SVC_MARKET__SEED: '2',
  SVC_MARKET__TICK_SECONDS: '1',
  SVC_MARKET__BAR_SECONDS: '5',
  SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '5',
}

/** Starts a service with its dashboard. The identity is saved, so that sessions survive a restart. */
export const startEngine = async (variables: Variables = {}, home?: string): Promise<RunningEngine> =>
  withDashboard(await startService(home ?? (await newHome()), engineVariables(variables)))

/** Starts the same in a separate process, which a test can freeze. */
export const startEngineProcess = async (): Promise<ServiceProcess & { readonly dashboardUrl: string }> =>
  withDashboard(await startProcess(await newHome(), engineVariables({})))

const engineVariables = (variables: Variables): Variables => ({
  SVC_DEV_MODE: '1',
  // A scheduled cycle, which may come at any time, would trade again.
  SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '86400',
  SVC_KARMA__TREASURY_ADDRESS: '0x00000000000000000000000000000000000000aa',
  ...variables,
})

const withDashboard = async <Service extends Pick<RunningService, 'output'>>(
  service: Service,
): Promise<Service & { readonly dashboardUrl: string }> => {
  const dashboardUrl = await dashboardUrlOf(service)
  if (dashboardUrl === null) throw new Error(`no dashboard:\n${service.output()}`)
  return { ...service, dashboardUrl }
}

/** Two intents in a bull market, on prices of the test. */
export const twoIntents = async (engine: RunningEngine): Promise<void> => {
  await registerProducer(engine, 'ticker', 'technical')
  await bullMarket(engine)
  for (const symbol of ['ETH', 'SOL']) {
    await price(engine, symbol, 100)
    await agreementOn(engine, symbol, `fan of ${symbol}`)
  }
  await engine.call('POST', '/brain/run')
}

/** Two positions on prices of the test: one open, one closed with profit, so that karma accrues. */
export const openPositions = async (engine: RunningEngine): Promise<void> => {
  await twoIntents(engine)
  // A price before the fill would cancel the order: the price moved.
  await untilHeld(engine, ['ETH', 'SOL'])
  await price(engine, 'SOL', 111)
  await untilHeld(engine, ['ETH'])
  await price(engine, 'ETH', 102)
}

const untilHeld = async (engine: RunningEngine, assets: readonly string[]): Promise<void> => {
  const held = async (): Promise<readonly string[]> => {
    const positions = (await engine.call('GET', '/positions')).body as readonly { asset: string }[]
    return positions.map(({ asset }) => asset).sort()
  }
  await vi.waitFor(async () => expect(await held()).toEqual(assets), { timeout: 30_000 })
}

export const price = (engine: RunningEngine, symbol: string, value: number): Promise<string> =>
  emit(engine, 'ticker', 'signal.price_ws.v1', { symbol, price: value })

/** Number of stored events. */
export const headSeq = async (engine: RunningEngine): Promise<number> => {
  const { items } = (await engine.call('GET', '/events?limit=1')).body as { items: { seq: number }[] }
  return items[0]?.seq ?? 0
}
