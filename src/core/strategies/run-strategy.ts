import { TIMEFRAME_RULE, timeframeSeconds } from '../market/history/series.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { BarSeries, type ClosedBar, type SeriesBar } from './bar-series.ts'
import { proposalOf } from './proposal.ts'
import {
  StrategyError,
  targetPositionSchema,
  type AccountView,
  type Bar,
  type BarQuery,
  type ParameterValues,
  type PositionView,
  type StrategyDefinition,
  type StrategyInstance,
  type StrategyProposal,
  type StrategyView,
  type TargetPosition,
} from './strategy.ts'

/** Account data that a strategy can read. */
export interface AccountFacts {
  readonly positions: readonly PositionView[]
  readonly account: AccountView
}

export interface StrategyRunOptions {
  /** The length of the bars of a strategy that names no timeframe. */
  readonly analysisSeconds: () => number
  /**
   * Backtests set this: all their bars are historical, and the time at which the strategy runs decides what is traded.
   */
  readonly tradesPast?: boolean
}

/** More answers to one bar are an error. */
const ANSWERS_MAX = 100
const HISTORY_BARS_MIN = 500
const HISTORY_BARS_MAX = 20_000

/**
 * A strategy with its parameters. It reads bars and returns the trades that the strategy proposes, without side
 * effects.
 */
export class StrategyRun {
  readonly #definition: StrategyDefinition
  readonly #parameters: ParameterValues
  readonly #options: StrategyRunOptions
  readonly #warmUpBars: number
  readonly #symbols = new Map<string, SymbolRun>()
  /** Runs by the feed's spelling of the symbol, so that most bars need only this lookup. */
  readonly #spelled = new Map<string, SymbolRun>()
  /** Symbols with a closed bar that is not decided yet, in the order of their bars. */
  #due: readonly PendingBar[] = NONE_DUE
  /** Set with the first bar: an analysis bar is never shorter than the bars of the feed. */
  #decidedSeconds: readonly number[] | null = null

  constructor(definition: StrategyDefinition, parameters: ParameterValues, options: StrategyRunOptions) {
    this.#definition = definition
    this.#parameters = parameters
    this.#options = options
    const { warmUpBars } = definition
    this.#warmUpBars = typeof warmUpBars === 'number' ? warmUpBars : warmUpBars(parameters)
    const isSound = Number.isSafeInteger(this.#warmUpBars) && this.#warmUpBars >= 0
    if (!isSound || this.#warmUpBars > HISTORY_BARS_MAX) {
      throw new StrategyError(`warmUpBars must be a whole number from 0 to ${HISTORY_BARS_MAX}`)
    }
  }

  /** Number and length of the bars that the strategy needs before it trades. */
  get warmUp(): { readonly bars: number; readonly seconds: number } {
    return { bars: this.#warmUpBars, seconds: this.#decidedSeconds?.[0] ?? this.#secondsFor(0)[0] ?? 0 }
  }

  get hasPending(): boolean {
    return this.#due.length > 0
  }

  add(bar: SeriesBar, facts: () => AccountFacts): void {
    this.#decidedSeconds ??= this.#secondsFor(bar.seconds)
    const of = this.#spelled.get(bar.symbol) ?? this.#symbolRun(bar.symbol, this.#decidedSeconds)
    // A feed repeats bars after a restart.
    if (bar.openMs < of.seenUntilMs) return
    of.seenUntilMs = bar.closeMs
    // Longer timeframes are updated first: `onBar` sees the longer bars that close together with its own.
    for (const series of of.others) series.add(bar)
    for (const closed of of.first.add(bar)) {
      // Only the newest bar of a symbol is traded on.
      const before = of.pending
      if (before !== null) {
        this.#ask({ ...before, isPast: true }, facts)
        this.#due = this.#due.filter((other) => other !== before)
      }
      of.barsSeen += 1
      of.pending = { of, closed, isPast: this.#isPast(bar) || of.barsSeen < this.#warmUpBars }
      // There is usually only one.
      this.#due = this.#due.length === 0 ? [of.pending] : [...this.#due, of.pending]
    }
  }

  #isPast({ isPast }: SeriesBar): boolean {
    return isPast && this.#options.tradesPast !== true
  }

  /** Proposals after the bars that closed since the last call. */
  decide(facts: () => AccountFacts): readonly StrategyProposal[] {
    const due = this.#due
    if (due.length === 0) return NOTHING
    this.#due = NONE_DUE
    for (const { of } of due) of.pending = null
    const only = due[0]
    if (only !== undefined && due.length === 1) return this.#ask(only, facts)
    return due.flatMap((pending) => this.#ask(pending, facts))
  }

  #ask(pending: PendingBar, facts: () => AccountFacts): readonly StrategyProposal[] {
    const view = new View(pending, this.#bars, facts)
    return this.proposalsFor(view, pending.of.instance.onBar(view))
  }

  /** Trades that an answer to this view proposes. Throws for an invalid answer. */
  proposalsFor(view: StrategyView, answer: unknown): readonly StrategyProposal[] {
    if (answer === null || answer === undefined || view.isWarmUp) return NOTHING
    if (!Array.isArray(answer)) return [this.#proposal(checked(answer), view)]
    const answers: readonly unknown[] = answer
    if (answers.length > ANSWERS_MAX)
      throw new StrategyError(`it answered ${answers.length} times to one bar; ${ANSWERS_MAX} are allowed`)
    return answers.map((wanted) => this.#proposal(checked(wanted), view))
  }

  #proposal(wanted: TargetPosition, view: StrategyView): StrategyProposal {
    const name = wanted.symbol ?? view.symbol
    const named = this.#spelled.get(name) ?? this.#known(name)
    return proposalOf(wanted, { symbol: named.symbol, view, seconds: this.#seconds()[0] ?? 0 })
  }

  readonly #bars = (
    { of, closed: { closeMs: untilMs } }: PendingBar,
    { symbol, timeframe, count }: BarQuery,
  ): readonly Bar[] => {
    const from = symbol === undefined ? of : (this.#symbols.get(canonicalSymbol(symbol)) ?? null)
    const [first = 0] = this.#seconds()
    const seconds = timeframe === undefined ? first : secondsOf(timeframe)
    if (!this.#seconds().includes(seconds)) {
      throw new StrategyError(`${timeframe} is not one of its timeframes: add it to "timeframes"`)
    }
    if (from === null) return NO_BARS
    const series = [from.first, ...from.others].find((some) => some.seconds === seconds)
    return series?.until(untilMs, count) ?? NO_BARS
  }

  #known(symbol: string): SymbolRun {
    const known = this.#symbols.get(canonicalSymbol(symbol))
    if (known !== undefined) return known
    const names = [...this.#symbols.values()].map((run) => run.symbol)
    throw new StrategyError(`it wants ${symbol}, which has no bars here (there are ${names.join(', ')})`)
  }

  #symbolRun(symbol: string, seconds: readonly number[]): SymbolRun {
    const key = canonicalSymbol(symbol)
    const known = this.#symbols.get(key)
    if (known !== undefined) {
      this.#spelled.set(symbol, known)
      return known
    }
    const kept = Math.max(HISTORY_BARS_MIN, this.#warmUpBars + 1)
    const instance = this.#definition.create(this.#parameters, { symbol, seconds: seconds[0] ?? 0 })
    if (typeof instance?.onBar !== 'function')
      throw new StrategyError('create must return an object with an onBar function')
    const [first, ...others] = [...new Set(seconds)].map((length) => new BarSeries(length, kept))
    if (first === undefined) throw new StrategyError('it has no timeframe')
    const made: SymbolRun = { symbol, instance, first, others, pending: null, barsSeen: 0, seenUntilMs: 0 }
    this.#symbols.set(key, made)
    this.#spelled.set(symbol, made)
    return made
  }

  #secondsFor(barSeconds: number): readonly number[] {
    const { timeframes = [] } = this.#definition
    if (timeframes.length > 0) return timeframes.map(secondsOf)
    return [Math.max(this.#options.analysisSeconds(), barSeconds)]
  }

  #seconds(): readonly number[] {
    return this.#decidedSeconds ?? []
  }
}

const NOTHING: readonly StrategyProposal[] = []
const NO_BARS: readonly Bar[] = []
const NONE_DUE: readonly PendingBar[] = []

interface SymbolRun {
  readonly symbol: string
  readonly instance: StrategyInstance
  readonly first: BarSeries
  readonly others: readonly BarSeries[]
  /** The newest closed bar, until it is decided on. */
  pending: PendingBar | null
  barsSeen: number
  seenUntilMs: number
}

interface PendingBar {
  readonly of: SymbolRun
  readonly closed: ClosedBar
  readonly isPast: boolean
}

type LookUpBars = (pending: PendingBar, query: BarQuery) => readonly Bar[]

/** Bars and the account are looked up when the strategy reads them, and not again. */
class View implements StrategyView {
  readonly symbol: string
  readonly isWarmUp: boolean
  readonly #pending: PendingBar
  readonly #bars: LookUpBars
  readonly #lookUpFacts: () => AccountFacts
  #facts: AccountFacts | null = null

  constructor(pending: PendingBar, bars: LookUpBars, facts: () => AccountFacts) {
    this.symbol = pending.of.symbol
    this.isWarmUp = pending.isPast
    this.#pending = pending
    this.#bars = bars
    this.#lookUpFacts = facts
  }

  get bar(): Bar {
    return this.#pending.closed.bar
  }

  get bars(): StrategyView['bars'] {
    return (query = {}) => this.#bars(this.#pending, query)
  }

  get timeMs(): number {
    return this.#pending.closed.closeMs
  }

  get position(): PositionView | null {
    const key = canonicalSymbol(this.symbol)
    return this.positions.find(({ symbol, own }) => own && canonicalSymbol(symbol) === key) ?? null
  }

  get positions(): readonly PositionView[] {
    return this.#knownFacts.positions
  }

  get account(): AccountView {
    return this.#knownFacts.account
  }

  get #knownFacts(): AccountFacts {
    this.#facts ??= this.#lookUpFacts()
    return this.#facts
  }
}

const checked = (wanted: unknown): TargetPosition => {
  const side = sideAlone(wanted)
  if (side !== null) return { side }
  if (typeof (wanted as { readonly then?: unknown } | null)?.then === 'function')
    throw new StrategyError('onBar answered a promise: it must not be async, nor wait for anything')
  const parsed = targetPositionSchema.safeParse(wanted)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  throw new StrategyError(`its answer is wrong: ${where}${issue?.message ?? 'invalid'}`)
}

/**
 * The side of an answer that has no other member, else null. Most answers are of this form, and reading all members
 * costs ten times as much.
 */
const sideAlone = (wanted: unknown): TargetPosition['side'] | null => {
  if (typeof wanted !== 'object' || wanted === null || !Object.hasOwn(wanted, 'side')) return null
  const { side } = wanted as { readonly side: unknown }
  if (side !== 'long' && side !== 'short' && side !== 'flat') return null
  for (const key in wanted) if (key !== 'side') return null
  return side
}

const secondsOf = (timeframe: string): number => {
  const seconds = timeframeSeconds(timeframe)
  if (seconds === null) throw new StrategyError(`the timeframe ${timeframe} is not ${TIMEFRAME_RULE}`)
  return seconds
}
