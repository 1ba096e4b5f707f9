import { Map as PersistentMap } from 'immutable'

export const POSITION_STATUSES = [
  'open',
  'monitoring',
  'degrading',
  'closing',
  'closed',
  'liquidated',
] as const
export const EXIT_REASONS = [
  'stop_loss',
  'take_profit',
  'time_stop',
  'bias_flip',
  'manual',
  'liquidated',
] as const

export interface Position {
  readonly id: string
  readonly platform: string
  readonly asset: string
  readonly direction: 'long' | 'short'
  readonly entryPrice: number
  readonly sizeNotional: number
  readonly quantity: number
  readonly feesUsd: number
  readonly leverage: number | null
  readonly marginType: 'isolated' | 'cross' | null
  readonly stopLoss: number | null
  readonly takeProfit: number | null
  readonly openedAt: string
  readonly closedAt: string | null
  readonly status: (typeof POSITION_STATUSES)[number]
  /** Net of fees. */
  readonly realizedPnl: number | null
  readonly exitPrice: number | null
  readonly exitReason: (typeof EXIT_REASONS)[number] | null
  readonly markPrice: number | null
  readonly unrealizedPnl: number | null
  readonly convictionId: string | null
  readonly regimeAtEntry: string | null
  readonly pcsAtEntry: number | null
  readonly ctsAtEntry: number | null
}

export type Positions = PersistentMap<string, Position>

export const INITIAL_POSITIONS: Positions = PersistentMap()

/** Whether it may still win or lose. */
export const isOpen = ({ status }: Position): boolean => status !== 'closed' && status !== 'liquidated'
