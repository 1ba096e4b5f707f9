import type { FeedBar } from '../../../core/market/bar.ts'
import { seriesBar, type SeriesBar } from '../../../core/strategies/bar-series.ts'
import type { AccountFacts } from '../../../core/strategies/run-strategy.ts'
import { StrategyError, type StrategyProposal } from '../../../core/strategies/strategy.ts'
import type { OpenedStrategy, StrategyDescription, StrategySource } from '../../../ports/strategy.ts'
import type { OwnProgramOptions } from '../../own-program.ts'
import type { CodeSubject, Translations } from './messages.ts'
import { OwnCode } from './own-code.ts'
import { ProcessHost } from './process-host.ts'

/** A strategy in a file of the user, described, for a service. Every opening runs in a process of its own. */
export const describeOwnStrategy = async (
  { name, path }: { readonly name: string; readonly path: string },
  options: OwnProgramOptions,
): Promise<StrategySource> => {
  const { description, translations } = await descriptionIn({ name, path }, options)
  return {
    ...description,
    open: async (parameters, { analysisSeconds, tradesPast = false }) => {
      const opened = processOf({ file: path, name, translations }, options)
      try {
        const seconds = analysisSeconds()
        const answer = await named(
          name,
          opened.ask('open-strategy', { parameters, analysisSeconds: seconds, tradesPast }),
        )
        return runningIn(opened, { name, ...answer })
      } catch (error) {
        await opened.close()
        throw error
      }
    },
    faultsOf: async (sets) => {
      const code = processOf({ file: path, name, translations }, options)
      try {
        const faults: (string | null)[] = []
        // Each part must be answered within the time limit of an answer.
        for (let from = 0; from < sets.length; from += SETS_AT_ONCE) {
          const part = { sets: sets.slice(from, from + SETS_AT_ONCE) }
          for (const fault of await named(name, code.ask('check-parameters', part))) faults.push(fault)
        }
        return faults
      } finally {
        await code.close()
      }
    },
  }
}

const processOf = (subject: CodeSubject, options: OwnProgramOptions): OwnCode =>
  new OwnCode(options, (listener) => new ProcessHost(subject, listener))

const SETS_AT_ONCE = 10_000

const descriptionIn = async (
  { name, path }: { readonly name: string; readonly path: string },
  options: OwnProgramOptions,
): Promise<{ readonly description: StrategyDescription; readonly translations: Translations }> => {
  const code = processOf({ file: path, name, translations: new Map() }, options)
  try {
    const description = await named(name, code.ask('describe-strategy', {}))
    return { description, translations: await named(name, code.ask('translations', {})) }
  } finally {
    await code.close()
  }
}

type Opened = Pick<OpenedStrategy, 'name' | 'parameters' | 'warmUp'>

const runningIn = (code: OwnCode, opened: Opened): OpenedStrategy => {
  const shortestMs = opened.warmUp.seconds * 1000
  let bars: SeriesBar[] = []
  let isDue = false
  let lost: StrategyError | null = null
  /** Place of the incomplete bar, by symbol. */
  const forming = new Map<string, number>()
  const closesOne = ({ symbol, seconds, openMs, closeMs }: SeriesBar): boolean => {
    const lengthMs = Math.max(shortestMs, seconds * 1000)
    const place = Math.floor(openMs / lengthMs)
    // A gap hides the end of a bar: the next bar closes it.
    const isCut = (forming.get(symbol) ?? place) !== place
    const isComplete = closeMs % lengthMs === 0
    if (isComplete) forming.delete(symbol)
    else forming.set(symbol, place)
    return isCut || isComplete
  }
  /** Throws if the strategy failed in past bars: its answers without them are worthless. */
  const unlessLost = <Answer>(answer: Answer): Answer => {
    if (lost !== null) throw lost
    return answer
  }
  return {
    ...opened,
    get isDue() {
      return isDue
    },
    add: (added: readonly FeedBar[]): void => {
      for (const bar of added) {
        const taken = seriesBar(bar)
        bars.push(taken)
        if (closesOne(taken)) isDue = true
      }
      if (bars.length < BARS_KEPT_MAX) return
      const past = bars
      bars = []
      code.ask('take', { bars: past }).catch((error: unknown) => {
        lost = ofStrategy(opened.name, error)
      })
    },
    decide: (facts: () => AccountFacts): Promise<readonly StrategyProposal[]> => {
      const request = { bars, facts: facts() }
      bars = []
      isDue = false
      return named(opened.name, code.ask('decide', request)).then(unlessLost)
    },
    close: () => code.close(),
  }
}

/** Number of bars after which a long warm-up is passed on in parts. */
const BARS_KEPT_MAX = 5000

/** Adds the name of the strategy to its errors. */
const named = async <Value>(name: string, asked: Promise<Value>): Promise<Value> => {
  try {
    return await asked
  } catch (error) {
    throw ofStrategy(name, error)
  }
}

const ofStrategy = (name: string, error: unknown): StrategyError =>
  new StrategyError(`${name}: ${error instanceof Error ? error.message : String(error)}`)
