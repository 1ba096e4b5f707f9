import { z } from 'zod'

/** The value of a parameter, as settings and the command line give it. */
export type ParameterValue = string | number | boolean
export type ParameterValues = Readonly<Record<string, ParameterValue>>

/** A closed bar. It is frozen, so that a strategy cannot change it for others. */
export interface Bar {
  readonly openMs: number
  readonly closeMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** An open position of the account. */
export interface PositionView {
  readonly symbol: string
  readonly side: 'long' | 'short'
  /** Whether this strategy opened it. Its answers close only its own positions. */
  readonly own: boolean
  readonly entryPrice: number
  readonly price: number
  readonly quantity: number
  readonly notionalUsd: number
  readonly unrealizedUsd: number
  readonly openedMs: number
  readonly stop: number | null
  readonly target: number | null
}

export interface AccountView {
  readonly equityUsd: number
  readonly exposureUsd: number
  /** Losses since 00:00 UTC and since the peak, as shares of equity at that time. */
  readonly dayLoss: number
  readonly drawdown: number
  readonly killSwitchLevel: number
}

export interface BarQuery {
  readonly symbol?: string
  /** One of the strategy's timeframes. Default: the first. */
  readonly timeframe?: string
  /** Number of newest bars. Default: all that are kept. */
  readonly count?: number
}

/** Data that a strategy receives when a bar of a symbol has closed. Nothing in it is newer than that bar. */
export interface StrategyView {
  readonly symbol: string
  readonly bar: Bar
  /** Closing time of the bar. */
  readonly timeMs: number
  /** True for bars of the warm-up, which fill indicators. Answers to them are not traded. */
  readonly isWarmUp: boolean
  /** Closed bars, oldest first, of this symbol or another one. */
  readonly bars: (query?: BarQuery) => readonly Bar[]
  /** The strategy's own position in this symbol; null without one. */
  readonly position: PositionView | null
  /** All open positions of the account. */
  readonly positions: readonly PositionView[]
  readonly account: AccountView
}

const atrBars = z.int().min(2).max(500).optional()

const stopSchema = z.union([
  z.strictObject({ percent: z.number().gt(0).lt(100), trailing: z.boolean().optional() }),
  z.strictObject({ atr: z.number().gt(0).max(100), bars: atrBars, trailing: z.boolean().optional() }),
  z.strictObject({ price: z.number().gt(0), trailing: z.boolean().optional() }),
])

const targetSchema = z.union([
  z.strictObject({ percent: z.number().gt(0).max(10_000) }),
  z.strictObject({ atr: z.number().gt(0).max(1000), bars: atrBars }),
  z.strictObject({ price: z.number().gt(0) }),
])

const sizeSchema = z.union([
  z.number().gt(0).max(100),
  z.strictObject({ fraction: z.number().gt(0).max(100) }),
  z.strictObject({
    volatility: z.number().gt(0).max(10),
    bars: z.int().min(5).max(5000).optional(),
    max: z.number().gt(0).max(100).optional(),
  }),
  z.strictObject({ kelly: z.literal(true) }),
])

/**
 * Position that a strategy wants to hold from now on. Limits of the account and the kill switch may reduce or prevent
 * it.
 */
export const targetPositionSchema = z.strictObject({
  /** Default: the symbol of the bar. */
  symbol: z.string().min(1).max(32).optional(),
  /** `flat` closes only positions that this strategy opened. */
  side: z.enum(['long', 'short', 'flat']),
  /** 0 to 100, default 75. Decides the size unless `size` does, and is the strength of the call. */
  conviction: z.number().min(0).max(100).optional(),
  /**
   * A share of equity (0.1 is 10 %) or a yearly volatility to aim at. Default: the size that the brain chooses by
   * conviction, bounded by the Kelly stake with its floor.
   */
  size: sizeSchema.optional(),
  /** Null for no stop. Default: the stop of the settings. */
  stop: stopSchema.nullable().optional(),
  target: targetSchema.nullable().optional(),
  /**
   * A lone surrogate, as a cut through an emoji leaves it, cannot be stored. Backtests reject it for the same reason.
   */
  reason: z
    .string()
    .max(500)
    .refine((text) => text.isWellFormed(), { error: 'must be well-formed Unicode' })
    .optional(),
})

export type TargetPosition = z.infer<typeof targetPositionSchema>
export type StopRule = z.infer<typeof stopSchema>
export type TargetRule = z.infer<typeof targetSchema>
export type SizeRule = z.infer<typeof sizeSchema>

/** Null or undefined leave everything as it is. */
export type StrategyAnswer = TargetPosition | readonly TargetPosition[] | null | undefined

/** One instance per symbol, so that its indicators contain one symbol only. */
export interface StrategyInstance {
  /** Called with every closed bar, those of the warm-up included. Must return synchronously. */
  onBar(view: StrategyView): StrategyAnswer
}

export interface StrategyHelpers {
  readonly symbol: string
  /** Length of the first timeframe in seconds. */
  readonly seconds: number
}

/** Declared as a method, so that strategies with different parameters fit into one list. */
type WarmUpOf<Schema extends z.ZodObject> = { of(parameters: z.infer<Schema>): number }['of']

export interface StrategyDefinition<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly description?: string
  /** Ranges and defaults; every parameter needs a default. */
  readonly parameters: Schema
  /** `onBar` is called for bars of the first one: `1m`, `15m`, `1h` … Default: the analysis bar, `ta.bar_seconds`. */
  readonly timeframes?: readonly string[]
  /** Number of bars of the first timeframe that pass before an answer counts. */
  readonly warmUpBars: number | WarmUpOf<Schema>
  create(parameters: z.infer<Schema>, helpers: StrategyHelpers): StrategyInstance
}

/** Returns the definition unchanged. It exists for its types. */
export const defineStrategy = <Schema extends z.ZodObject>(
  definition: StrategyDefinition<Schema>,
): StrategyDefinition<Schema> => definition

/** A trade that a strategy proposes, in shares of the price and of equity. */
export interface StrategyProposal {
  readonly symbol: string
  readonly side: 'long' | 'short' | 'flat'
  readonly conviction: number
  /** Undefined: size by conviction, bounded by the Kelly stake. */
  readonly sizePct?: number
  /** Undefined: stop and target of the settings. Null: none. */
  readonly stopPct?: number | null
  readonly targetPct?: number | null
  /** Stop and target that were given as prices. They take precedence over the shares, which describe them. */
  readonly stopPrice?: number
  readonly targetPrice?: number
  /** The stop follows the best price since the entry at this distance. */
  readonly trailingPct?: number
  readonly reason?: string
}

/** Thrown for a mistake of a strategy. The message explains it to the author of the strategy. */
export class StrategyError extends Error {
  override readonly name = 'StrategyError'
}
