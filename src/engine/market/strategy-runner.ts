import type { Proposal } from '../../core/brain/propose-trade.ts'
import type { SignalId } from '../../core/shared/brand.ts'
import type { StrategyProposal } from '../../core/strategies/strategy.ts'

/** What the engine is asked for when a strategy wants a trade. */
export const proposalOf = (
  rule: string,
  { side, ...wanted }: StrategyProposal,
  signalId?: SignalId,
): Proposal => ({
  rule,
  direction: side,
  ...wanted,
  ...(signalId === undefined ? {} : { signalId }),
})
