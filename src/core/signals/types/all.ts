import { curatorCalls, type CuratorRules } from './curator.ts'
import { headlines, type EventsRules } from './events.ts'
import { chainFlows, stablecoins, whales, type OnchainRules } from './onchain.ts'
import type { Reader } from './reader.ts'
import { marketMood, modelConsensus, socialScores, type SocialRules } from './social.ts'
import { indicators, orderBook, type TechnicalRules } from './technical.ts'
import { derivatives, fundFlows, type TradfiRules } from './tradfi.ts'

export interface PartRules
  extends CuratorRules, EventsRules, OnchainRules, SocialRules, TechnicalRules, TradfiRules {}

/** Every type that scores. A type without a reader neither scores nor keeps a domain fresh. */
export const READERS: ReadonlyMap<string, Reader<PartRules>> = new Map<string, Reader<PartRules>>([
  ['signal.aci.v1', modelConsensus],
  ['signal.curator.v1', curatorCalls],
  ['signal.etf.v1', fundFlows],
  ['signal.events.v1', headlines],
  ['signal.onchain.v1', chainFlows],
  ['signal.orderbook.v1', orderBook],
  ['signal.sentiment.v1', marketMood],
  ['signal.social.v1', socialScores],
  ['signal.stablecoin.v1', stablecoins],
  ['signal.ta.v1', indicators],
  ['signal.tradfi.v1', derivatives],
  ['signal.whale.v1', whales],
])
