import { faultsOfSets } from '../../../core/strategies/parameters.ts'
import { checkedParameters, descriptionOf, openChecked } from '../../../core/strategies/direct.ts'
import { StrategyError } from '../../../core/strategies/strategy.ts'
import type { StrategySource } from '../../../ports/strategy.ts'
import { messageOf } from './answer-requests.ts'
import { loadStrategy } from './load-definition.ts'

/**
 * A strategy in a file of the user that runs in the calling thread, which must be that of a backtest: `onBar` is a
 * function call. Code that does not return blocks this process, so the parent of the process watches it: `onReturn` is
 * called each time that the code has returned. `translations` are kept for later loads of the file in this process.
 */
export const loadInside = async (
  { name, path }: { readonly name: string; readonly path: string },
  { onReturn, translations }: InsideOptions,
): Promise<StrategySource> => {
  const failed = (error: unknown): never => {
    throw new StrategyError(`${name}: ${messageOf(error, path)}`)
  }
  const run = <Value>(code: () => Value): Value => {
    try {
      return code()
    } catch (error) {
      return failed(error)
    } finally {
      onReturn()
    }
  }
  if (translations.size > TRANSLATIONS_MAX) translations.clear()
  // The module is evaluated for each run: variables of the module do not lead from one run to the next.
  const definition = await loadStrategy(path, name, translations).catch(failed)
  return {
    ...descriptionOf(definition),
    faultsOf: async (sets) => faultsOfSets(definition.parameters, sets),
    open: async (given, options) => {
      const parameters = checkedParameters(definition, given)
      const opened = run(() => openChecked(definition, parameters, options))
      return {
        name,
        parameters,
        warmUp: opened.warmUp,
        get isDue() {
          return opened.isDue
        },
        add: (bars) => run(() => opened.add(bars)),
        decide: (facts) => run(() => opened.decide(facts)),
        close: () => Promise.resolve(),
      }
    },
  }
}

export interface InsideOptions {
  /** Called often, so it must be quick. */
  readonly onReturn: () => void
  readonly translations: Map<string, string>
}

/** Number of translated files that are kept. A file that is edited adds one. */
const TRANSLATIONS_MAX = 200
