/** The module `signal-engine/strategy` for files of the user. Its types are part of the build, for editors. */
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
