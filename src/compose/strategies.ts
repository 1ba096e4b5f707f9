import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import {
  findOwnFiles,
  isCode,
  writableByOthers,
  type OwnFile,
} from '../adapters/strategies/files/find-files.ts'
import { loadInside, type InsideOptions } from '../adapters/strategies/files/inside-strategies.ts'
import { openOwnProducer } from '../adapters/strategies/files/own-producers.ts'
import { describeOwnStrategy } from '../adapters/strategies/files/own-strategies.ts'
import { describeProcessStrategy } from '../adapters/strategies/process/process-strategy.ts'
import { checkParameters, STRATEGY_NAMES, unknownStrategy } from '../backtest/strategies.ts'
import { BRAIN, BUILT_IN_STRATEGIES, builtInStrategy, HOLD } from '../core/strategies/built-in.ts'
import { descriptionOf, openDirectly } from '../core/strategies/direct.ts'
import { faultsOfSets } from '../core/strategies/parameters.ts'
import { StrategyError, type ParameterValues } from '../core/strategies/strategy.ts'
import type { OwnProducer } from '../ports/producer.ts'
import type { OpenedStrategy, StrategySource } from '../ports/strategy.ts'
import type { FoundStrategy } from '../surfaces/cli/dependencies.ts'
import { Failure, messageOf } from '../surfaces/cli/failure.ts'

/** Folder of the user's strategies in a home. */
export const strategiesFolder = (home: string): string => join(home, 'strategies')

export interface OwnCodeSettings {
  readonly home: string
  /** True if all bars are historical, and the code may end with its run. */
  readonly isBacktest: boolean
  /**
   * Set in a process of `backtest-process.ts`, which is confined and watched: files of strategies run in this thread.
   * Everywhere else they run in a process of their own.
   */
  readonly inside?: InsideOptions | undefined
  /** Receives the output of a strategy, for its author. */
  readonly onOutput: (text: string) => void
}

/** Time limits of own code: for loading the file, and for each answer. */
export const LOAD_MS_MAX = 15_000
export const ANSWER_MS_MAX = 5000

/** A strategy by its name: built in, or a file of the user. Rejects with a `StrategyError`. */
export const strategyNamed = async (name: string, settings: OwnCodeSettings): Promise<StrategySource> => {
  const definition = builtInStrategy(name)
  if (definition !== undefined) {
    return {
      ...descriptionOf(definition),
      faultsOf: async (sets) => faultsOfSets(definition.parameters, sets),
      // A built-in strategy runs in the caller's thread, so closing has nothing to end.
      open: async (parameters, options) =>
        Object.assign(openDirectly(definition, parameters, options), { close: () => Promise.resolve() }),
    }
  }
  const files = await findOwnFiles(strategiesFolder(settings.home))
  const file = files.find((found) => found.name === name)
  if (file === undefined)
    throw new UnknownStrategyError(
      unknownStrategy(name, [...STRATEGY_NAMES, ...files.map((found) => found.name)]),
    )
  return sourceOf(file, settings)
}

/** Throws for strategies that cannot trade by the setting `strategies`. */
export const assertTradable = (name: string): void => {
  if (name === BRAIN)
    throw new StrategyError('the brain trades without being named, beside the strategies of the settings')
  if (name === HOLD)
    throw new StrategyError(`${HOLD} is there for backtests only: always_long is long, with sizes and stops`)
}

/** Opens a strategy for a command. Errors are reported to the user. */
export const openStrategy = async (
  name: string,
  parameters: ParameterValues,
  settings: OwnCodeSettings & { readonly analysisSeconds?: number },
): Promise<OpenedStrategy> => {
  const { analysisSeconds = ANALYSIS_SECONDS } = settings
  try {
    const source = await strategyNamed(name, settings)
    return await source.open(parameters, {
      analysisSeconds: () => analysisSeconds,
      tradesPast: settings.isBacktest,
    })
  } catch (error) {
    throw failureOf(error)
  }
}

const failureOf = (error: unknown): unknown => {
  if (!(error instanceof StrategyError)) return error
  const isUnknown = error instanceof UnknownStrategyError
  const advice = isUnknown ? 'Write one with "svc new strategy NAME".' : 'See "svc strategies".'
  return new Failure(isUnknown ? 'strategy.not_found' : 'strategy.failed', error.message, { advice })
}

/** Checks a strategy that is to trade. Returns its parameters with defaults. */
export const checkTradable = async (
  name: string,
  parameters: ParameterValues,
  home: string,
): Promise<ParameterValues> => {
  try {
    assertTradable(name)
  } catch (error) {
    throw error instanceof StrategyError ? new Failure('strategy.failed', error.message) : error
  }
  const opened = await openStrategy(name, parameters, { home, isBacktest: false, onOutput: () => undefined })
  await opened.close()
  return opened.parameters
}

/** Opens a strategy once, so that errors are reported before a run is queued. */
export const tryStrategy = async (name: string, parameters: ParameterValues, home: string): Promise<void> => {
  const settings = { home, isBacktest: false, onOutput: () => undefined }
  if (name !== BRAIN) return await (await openStrategy(name, parameters, settings)).close()
  try {
    checkParameters(name, parameters)
  } catch (error) {
    throw error instanceof StrategyError ? new Failure('strategy.failed', error.message) : error
  }
}

/** Parameter sets that a strategy accepts. */
export interface TakenSets {
  readonly taken: readonly ParameterValues[]
  /** The refused sets, such as those of a grid in which the fast mean is the slower one. Null if there are none. */
  readonly leftOut: { readonly count: number; readonly reason: string } | null
}

/** Throws if the strategy accepts none of the sets. */
export const takenSets = async (
  name: string,
  sets: readonly ParameterValues[],
  home: string,
): Promise<TakenSets> => {
  // The brain has no parameters, and reports that when it is tried.
  if (name === BRAIN) return { taken: sets, leftOut: null }
  try {
    const source = await strategyNamed(name, { home, isBacktest: false, onOutput: () => undefined })
    const faults = await source.faultsOf(sets)
    const taken = sets.filter((_set, index) => faults[index] === null)
    const reason = faults.find((fault) => fault !== null)
    if (reason === undefined) return { taken, leftOut: null }
    if (taken.length === 0) throw new StrategyError(`${name}: ${reason}`)
    return { taken, leftOut: { count: sets.length - taken.length, reason } }
  } catch (error) {
    throw failureOf(error)
  }
}

/** Bar length for checking a strategy without running it. */
const ANALYSIS_SECONDS = 900

class UnknownStrategyError extends StrategyError {}

const sourceOf = (file: OwnFile, { inside, onOutput }: OwnCodeSettings) => {
  if (file.fault !== null) return Promise.reject(new StrategyError(`${file.name}: ${file.fault}`))
  const options = { loadMsMax: LOAD_MS_MAX, answerMsMax: ANSWER_MS_MAX, onOutput }
  if (!isCode(file)) return describeProcessStrategy(file, options)
  return inside === undefined ? describeOwnStrategy(file, options) : loadInside(file, inside)
}

/** File of a strategy that is code of the user for Node; null for built-in strategies and programs. */
export const strategyCodeNamed = async (name: string, home: string): Promise<OwnFile | null> => {
  if (name === BRAIN || builtInStrategy(name) !== undefined) return null
  const files = await findOwnFiles(strategiesFolder(home))
  return files.find((file) => file.name === name && isCode(file)) ?? null
}

/** Folder of the user's producers in a home. */
export const producersFolder = (home: string): string => join(home, 'producers')

/** Producer files that can be read. Errors of the others are logged. */
export const findOwnProducers = async (home: string): Promise<readonly OwnFile[]> =>
  (await findOwnFiles(producersFolder(home))).filter(isCode)

export const ownProducer = async (
  name: string,
  { home, isBacktest, onOutput }: OwnCodeSettings,
): Promise<OwnProducer> => {
  const file = (await findOwnProducers(home)).find((found) => found.name === name)
  if (file === undefined) throw new StrategyError(`there is no file of the producer ${name}`)
  if (file.fault !== null) throw new StrategyError(file.fault)
  return openOwnProducer(file, { loadMsMax: LOAD_MS_MAX, answerMsMax: ANSWER_MS_MAX, onOutput, isBacktest })
}

/** What to say of own code that others may change; null where nobody can. */
export const openCodeWarning = async (home: string): Promise<string | null> => {
  const folders = [strategiesFolder(home), producersFolder(home)]
  const open = (await Promise.all(folders.map(writableByOthers))).flat()
  if (open.length === 0) return null
  const shown = open.slice(0, PATHS_SHOWN_MAX).map((path) => relative(home, path))
  const more = open.length > shown.length ? ` and ${open.length - shown.length} more` : ''
  return `others than their owner can write to ${shown.join(', ')}${more}: run chmod -R go-w on strategies and producers`
}

const PATHS_SHOWN_MAX = 5

/** The built-in rules, then the user's, each looked at by itself: one that hangs costs the others nothing. */
export const listStrategies = async (settings: OwnCodeSettings): Promise<readonly FoundStrategy[]> => {
  const builtIn = BUILT_IN_STRATEGIES.map((definition) => ({
    name: definition.name,
    path: null,
    description: descriptionOf(definition),
    error: null,
  }))
  const files = await findOwnFiles(strategiesFolder(settings.home))
  const describe = async (file: OwnFile): Promise<FoundStrategy> => {
    try {
      const { name, description, parameters, timeframes } = await sourceOf(file, settings)
      return {
        name,
        path: file.path,
        description: { name, description, parameters, timeframes },
        error: null,
      }
    } catch (error) {
      return { name: file.name, path: file.path, description: null, error: messageOf(error) }
    }
  }
  return [...builtIn, ...(await mapSome(files, describe))]
}

/** Each loads packages in a process of its own: all at once, on a small machine none would be done in time. */
const WIDTH_MAX = 4

/** Results in the order of the items. */
const mapSome = async <Item, Value>(
  items: readonly Item[],
  map: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> => {
  const values: Value[] = []
  const left = items.entries()
  const lane = async (): Promise<void> => {
    for (const [index, item] of left) values[index] = await map(item)
  }
  await Promise.all(Array.from({ length: Math.min(WIDTH_MAX, availableParallelism()) }, lane))
  return values
}
