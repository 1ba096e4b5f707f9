import { expect, vi } from 'vitest'
import { emit, registerProducer } from '../interface/acts.ts'
import { agreementOn, bullMarket } from '../interface/opinions.ts'
import {
  dashboardUrlOf,
  newHome,
  startService,
  type RunningService,
  type Variables,
} from '../interface/service.ts'

export interface PaperEngine extends RunningService {
  readonly dashboardUrl: string
}

/** A simulated market that is quick enough to watch. */
export const LIVELY: Variables = {
  SVC_MARKET__FEED: 'simulated',
  SVC_MARKET__SEED: '2',
  SVC_MARKET__TICK_SECONDS: '1',
  SVC_MARKET__BAR_SECONDS: '5',
  SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '5',
}

/** The built service with its dashboard. The identity is kept, so that sessions outlive a restart. */
export const startEngine = async (variables: Variables = {}, home?: string): Promise<PaperEngine> => {
  const service = await startService(home ?? (await newHome()), {
    SVC_DEV_MODE: '1',
    SVC_KARMA__TREASURY_ADDRESS: '0x00000000000000000000000000000000000000aa',
    ...variables,
  })
  const dashboardUrl = await dashboardUrlOf(service)
  if (dashboardUrl === null) throw new Error(`no dashboard:\n${service.output()}`)
  return { ...service, dashboardUrl }
}

/** What the brain wants in a bull market, on prices that the test tells. */
export const twoIntents = async (engine: PaperEngine): Promise<void> => {
  await registerProducer(engine, 'ticker', 'technical')
  await bullMarket(engine)
  for (const symbol of ['ETH', 'SOL']) {
    await price(engine, symbol, 100)
    await agreementOn(engine, symbol, `fan of ${symbol}`)
  }
  await engine.call('POST', '/brain/run')
}

/** Two positions on prices that the test tells: one open, one closed with profit, so that karma is owed. */
export const openPositions = async (engine: PaperEngine): Promise<void> => {
  await twoIntents(engine)
  // An order that meets the next price before it is filled would be refused: the price moved.
  await untilHeld(engine, ['ETH', 'SOL'])
  await price(engine, 'SOL', 111)
  await untilHeld(engine, ['ETH'])
  await price(engine, 'ETH', 102)
}

const untilHeld = async (engine: PaperEngine, assets: readonly string[]): Promise<void> => {
  const held = async (): Promise<readonly string[]> => {
    const positions = (await engine.call('GET', '/positions')).body as readonly { asset: string }[]
    return positions.map(({ asset }) => asset).sort()
  }
  await vi.waitFor(async () => expect(await held()).toEqual(assets), { timeout: 30_000 })
}

export const price = (engine: PaperEngine, symbol: string, value: number): Promise<string> =>
  emit(engine, 'ticker', 'signal.price_ws.v1', { symbol, price: value })

/** How many events are stored. */
export const headSeq = async (engine: PaperEngine): Promise<number> => {
  const { items } = (await engine.call('GET', '/events?limit=1')).body as { items: { seq: number }[] }
  return items[0]?.seq ?? 0
}
