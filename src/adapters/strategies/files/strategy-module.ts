/** What a file of the user gets as `signal-engine/strategy`. Its types go with the build, for editors. */
export { z } from 'zod'
export { defineStrategy, StrategyError } from '../../../core/strategies/strategy.ts'
export type {
  AccountView,
  Bar,
  PositionView,
  StrategyDefinition,
  StrategyProposal,
  StrategyView,
  TargetPosition,
} from '../../../core/strategies/strategy.ts'
export { tryStrategy } from '../../../core/strategies/try-strategy.ts'
