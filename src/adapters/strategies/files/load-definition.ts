import * as tradingSignals from 'trading-signals'
import * as zod from 'zod'
import { STRATEGY_NAME, STRATEGY_NAME_RULE } from '../../../core/shared/strategy-name.ts'
import { reservedNameFault } from '../../../core/strategies/built-in.ts'
import { timeframeSeconds, TIMEFRAME_RULE } from '../../../core/market/history/series.ts'
import { intervalMsOf } from '../../../core/shared/cron.ts'
import { isBuiltin } from '../../../core/signals/producers.ts'
import { StrategyError, type StrategyDefinition } from '../../../core/strategies/strategy.ts'
import { defaultsFault } from '../../../core/strategies/parameters.ts'
import * as producerModule from './producer-module.ts'
import type { OwnProducerDefinition } from './producer-module.ts'
import * as strategyModule from './strategy-module.ts'

/**
 * Loads a module of the user, in TypeScript or JavaScript, without a build step on any version of Node. The packages that
 * it may need come from here: a home has no node_modules.
 */
export const importOwn = async (file: string, translations = new Map<string, string>()): Promise<unknown> => {
  // Only here: most commands load no file of the user.
  const { createJiti } = await import('jiti')
  const options = { fsCache: false, moduleCache: false, interopDefault: false }
  const compiler = createJiti(file, options)
  const jiti = createJiti(file, {
    ...options,
    transform: (asked) => {
      const key = JSON.stringify(asked)
      // The first translation loads the compiler, which takes longer than all the rest.
      const code = translations.get(key) ?? compiler.transform(asked)
      translations.set(key, code)
      return { code }
    },
    virtualModules: {
      'signal-engine/strategy': strategyModule,
      'signal-engine/producer': producerModule,
      'trading-signals': tradingSignals,
      zod,
    },
  })
  return jiti.import(file)
}

/** Adds how the files were translated to what is known of it. */
export const loadStrategy = async (
  file: string,
  name: string,
  translations: Map<string, string>,
): Promise<StrategyDefinition> => soundStrategy(defaultOf(await importOwn(file, translations)), name)

export const loadProducer = async (
  file: string,
  name: string,
  translations: Map<string, string>,
): Promise<OwnProducerDefinition> => soundProducer(defaultOf(await importOwn(file, translations)), name)

const defaultOf = (module: unknown): Readonly<Record<string, unknown>> => {
  const exported = isRecord(module) ? module['default'] : undefined
  if (!isRecord(exported))
    throw new StrategyError('it has no default export: export default defineStrategy({ … })')
  return exported
}

const soundStrategy = (exported: Readonly<Record<string, unknown>>, name: string): StrategyDefinition => {
  const { parameters, warmUpBars, create, timeframes } = exported
  checkName(exported['name'], name)
  const reserved = reservedNameFault(name)
  if (reserved !== null) throw new StrategyError(reserved)
  if (!(parameters instanceof zod.z.ZodObject))
    throw new StrategyError('parameters must be a zod object: z.object({ … })')
  const fault = defaultsFault(parameters)
  if (fault !== null) throw new StrategyError(fault)
  if (typeof warmUpBars !== 'number' && typeof warmUpBars !== 'function')
    throw new StrategyError('warmUpBars must be a number, or a function of the parameters')
  if (typeof create !== 'function') throw new StrategyError('create must be a function of the parameters')
  if (timeframes !== undefined && !Array.isArray(timeframes))
    throw new StrategyError('timeframes must be a list')
  for (const timeframe of timeframes ?? [])
    if (typeof timeframe !== 'string' || timeframeSeconds(timeframe) === null)
      throw new StrategyError(`the timeframe ${String(timeframe)} is not ${TIMEFRAME_RULE}`)
  return exported as unknown as StrategyDefinition
}

const soundProducer = (exported: Readonly<Record<string, unknown>>, name: string): OwnProducerDefinition => {
  const { run, domain, schedule } = exported
  checkName(exported['name'], name)
  if (isBuiltin(name)) throw new StrategyError(`${name} is the name of a built-in producer`)
  if (typeof run !== 'function') throw new StrategyError('run must be a function of the market')
  if (typeof domain !== 'string' || !/^[a-z][a-z0-9_-]{0,63}$/.test(domain))
    throw new StrategyError(
      'domain must be curator, onchain, tradfi, social, technical, events or a word of your own',
    )
  if (typeof schedule !== 'string' || intervalMsOf(schedule) === null)
    throw new StrategyError('schedule must be a cron line of five fields, such as */15 * * * *')
  return exported as unknown as OwnProducerDefinition
}

/** The file is found by its name, so that no other file has to be loaded to find it. */
const checkName = (given: unknown, name: string): void => {
  if (typeof given !== 'string' || !STRATEGY_NAME.test(given))
    throw new StrategyError(`its name ${STRATEGY_NAME_RULE}`)
  if (given !== name)
    throw new StrategyError(`it is named ${given}, but its file ${name}: the two must be the same`)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
