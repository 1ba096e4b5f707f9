import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { Market } from './market.ts'
import { observeBars, type Observation } from './observe.ts'

export interface MarketCommand {
  readonly kind: 'observe-bars'
  readonly observation: Observation
}

export const decideMarket = (
  { market }: { readonly market: Market },
  command: MarketCommand,
  { now, configuration }: DecisionContext,
): Decision =>
  observeBars(market, command.observation, { now, moveMax: configuration.market.max_bar_move_pct })
