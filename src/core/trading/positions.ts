import { Map as PersistentMap } from 'immutable'
import type { PayloadOf } from '../events/catalogue.ts'
import type { EXIT_REASONS, POSITION_STATUSES } from '../events/trading.ts'
import type { Direction, Price, Quantity, Usd } from '../shared/money.ts'

export type PositionStatus = (typeof POSITION_STATUSES)[number]
export type ExitReason = (typeof EXIT_REASONS)[number]
export type Trigger = NonNullable<PayloadOf<'execution.position_closed.v1'>['trigger']>

/** In parts that change together: terms never, the holding with fills, the mark with every price. */
export interface Position {
  readonly id: string
  readonly status: PositionStatus
  readonly terms: Terms
  readonly holding: Holding
  readonly mark: Mark
  /** An exit that the kill switch blocks, as long as no operator acted. */
  readonly alarm: Alarm | null
  readonly end: End | null
}

export interface Terms {
  readonly orderId: string
  readonly intentId: string
  readonly convictionId: string
  readonly platform: string
  readonly asset: string
  readonly direction: Direction
  readonly leverage: number
  readonly marginType: 'isolated' | 'cross'
  readonly openedAt: string
  readonly regimeAtEntry: string
  readonly pcsAtEntry: number | null
  readonly ctsAtEntry: number | null
  /** Found at the venue, and not opened by us: nothing but an operator ends it. */
  readonly isAdopted: boolean
}

export interface Holding {
  readonly quantity: Quantity
  readonly notional: Usd
  /** Sum of price times quantity: the average price follows exactly. */
  readonly costBasis: bigint
  readonly entryPrice: Price
  readonly isEntryDone: boolean
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
  readonly lossAtStop: Usd
  /** Of entry and exit. */
  readonly fees: Usd
  readonly funding: Usd
  readonly exit: ExitSoFar | null
}

/** Who ended a position by hand, and why. */
export interface ClosedBy {
  readonly operator: string
  readonly note: string | null
}

/** What of an exit has been filled, over all its attempts. */
export interface ExitSoFar {
  /** Of the newest attempt. */
  readonly orderId: string
  readonly attempt: number
  readonly by: ClosedBy | null
  readonly reason: ExitReason
  readonly trigger: Trigger | null
  readonly quantity: Quantity
  readonly notional: Usd
  readonly costBasis: bigint
}

export interface Mark {
  readonly price: number
  readonly atMs: number
  readonly unrealized: Usd
  /** Notional at the mark. */
  readonly exposure: Usd
  readonly margin: Usd
  /** The furthest it ever was against and in favour, as parts of the entry price. */
  readonly maxAdverseExcursion: number
  readonly maxFavorableExcursion: number
}

export interface Alarm {
  readonly at: string
  readonly repeat: number
  readonly reason: 'stop' | 'target'
}

export interface End {
  readonly closedAt: string
  readonly exitPrice: number
  readonly reason: ExitReason
  readonly realized: Usd
}

/** Open ones, and the newest of those that are closed. */
export type Positions = PersistentMap<string, Position>

export const INITIAL_POSITIONS: Positions = PersistentMap()

/** Whether it may still win or lose. */
export const isOpen = ({ status }: Pick<Position, 'status'>): boolean =>
  status !== 'closed' && status !== 'liquidated'
