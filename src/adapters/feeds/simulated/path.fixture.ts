import { hash } from 'node:crypto'
import { configurationSchema } from '../../../core/config/schema.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { createBarMaker } from './bars.ts'
import { createPath, type MarketSettings, type Path, type PathStart } from './path.ts'

export const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

/** The defaults, with the seed of the golden numbers and no warm-up. */
export const settingsOf = (changes: Partial<MarketSettings> = {}): MarketSettings => ({
  ...configurationSchema.parse({}).market,
  seed: 42,
  warmup_hours: 0,
  ...changes,
})

export const pathOf = (changes: Partial<MarketSettings> = {}, start: Partial<PathStart> = {}): Path =>
  createPath({
    settings: settingsOf(changes),
    segment: 1,
    symbols: ['BTC', 'ETH'],
    lastBars: new Map(),
    sha256Hex,
    ...start,
  })

/** Bars of one minute, from 1970 on. */
export const barsOf = (path: Path, count: number, stepsPerBar = 1): readonly (readonly FeedBar[])[] => {
  const maker = createBarMaker(path)
  return Array.from({ length: count }, (_, index) => {
    for (let step = 0; step < stepsPerBar; step += 1) {
      path.step()
      maker.add()
    }
    return maker.close({ openMs: index * 60_000, resolutionSeconds: 60, backfill: false })
  })
}
