import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { FeedBar } from '../../../core/market/bar.ts'
import { seriesBar } from '../../../core/strategies/bar-series.ts'
import { reservedNameFault } from '../../../core/strategies/built-in.ts'
import { descriptionOf, NO_FACTS } from '../../../core/strategies/direct.ts'
import {
  declaredParameters,
  defaultsFault,
  faultsOfSets,
  parseParameters,
  schemaOf,
} from '../../../core/strategies/parameters.ts'
import {
  StrategyRun,
  type AccountFacts,
  type StrategyRunOptions,
} from '../../../core/strategies/run-strategy.ts'
import {
  StrategyError,
  type ParameterValues,
  type StrategyDefinition,
  type StrategyProposal,
  type StrategyView,
} from '../../../core/strategies/strategy.ts'
import type { OpenedStrategy, StrategySource } from '../../../ports/strategy.ts'
import type { OwnProgramOptions } from '../../own-program.ts'
import { LineProcess } from './line-process.ts'

const settingsSchema = z.strictObject({
  command: z.array(z.string().min(1).max(1000)).min(1).max(100),
  description: z.string().max(1000).default(''),
  timeframes: z.array(z.string()).max(10).default([]),
  warm_up_bars: z.int().min(0).max(20_000).default(0),
  parameters: declaredParameters.default({}),
})

type Settings = z.infer<typeof settingsSchema>

/** A strategy that is a program in any language: it reads a line of JSON for each closed bar, and answers with one. */
export const describeProcessStrategy = async (
  { name, path }: { readonly name: string; readonly path: string },
  options: OwnProgramOptions,
): Promise<StrategySource> => {
  const reserved = reservedNameFault(name)
  if (reserved !== null) throw new StrategyError(reserved)
  const settings = await settingsIn(name, path)
  const definition = definitionOf(name, settings)
  const fault = defaultsFault(definition.parameters)
  if (fault !== null) throw new StrategyError(`${name}: ${fault}`)
  return {
    ...descriptionOf(definition),
    faultsOf: async (sets) => faultsOfSets(definition.parameters, sets),
    open: (given, runOptions) => {
      const parsed = parseParameters(definition.parameters, given)
      if (parsed.status === 'invalid')
        return Promise.reject(new StrategyError(`${name}: ${parsed.problems.join('; ')}`))
      const program = new LineProcess(settings.command, dirname(path), options)
      return Promise.resolve(running(program, definition, parsed.values, runOptions))
    },
  }
}

const settingsIn = async (name: string, path: string): Promise<Settings> => {
  let content: unknown
  try {
    content = parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw new StrategyError(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
  const parsed = settingsSchema.safeParse(content)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    ({ path: where, message }) => `${where.join('.') || 'file'}: ${message}`,
  )
  throw new StrategyError(`${name}: ${problems.join('; ')}`)
}

/** Its bars are asked about later, so that nothing waits inside. */
const definitionOf = (
  name: string,
  { description, timeframes, warm_up_bars: warmUpBars, parameters }: Settings,
): StrategyDefinition => ({
  name,
  description,
  timeframes,
  warmUpBars,
  parameters: schemaOf(parameters),
  create: () => ({ onBar: () => null }),
})

const running = (
  program: LineProcess,
  definition: StrategyDefinition,
  parameters: ParameterValues,
  options: StrategyRunOptions,
): OpenedStrategy => {
  const { name } = definition
  let views: StrategyView[] = []
  const create = () => ({ onBar: (view: StrategyView) => void views.push(view) })
  const run = new StrategyRun({ ...definition, create }, parameters, options)
  let hasStarted = false
  const exchange = async (facts: () => AccountFacts): Promise<readonly StrategyProposal[]> => {
    run.decide(facts)
    const due = views
    views = []
    if (!hasStarted) await program.ask({ type: 'start', name, parameters })
    hasStarted = true
    const proposals: StrategyProposal[] = []
    for (const view of due) proposals.push(...run.proposalsFor(view, await program.ask(lineOf(view))))
    return proposals
  }
  return {
    name,
    parameters,
    get warmUp() {
      return run.warmUp
    },
    get isDue() {
      return run.hasPending
    },
    add: (bars: readonly FeedBar[]): void => {
      for (const bar of bars) run.add(seriesBar(bar), NO_FACTS)
    },
    decide: (facts) =>
      exchange(facts).catch((error: unknown) => {
        throw new StrategyError(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      }),
    close: () => program.close(),
  }
}

const lineOf = (view: StrategyView) => {
  const { symbol, isWarmUp, bar, positions, account } = view
  return {
    type: 'bar',
    symbol,
    warm_up: isWarmUp,
    bar: {
      open_ms: bar.openMs,
      close_ms: bar.closeMs,
      open: bar.open,
      high: bar.high,
      low: bar.low,
      close: bar.close,
      volume: bar.volume,
    },
    positions: positions.map((position) => ({
      symbol: position.symbol,
      side: position.side,
      own: position.own,
      entry_price: position.entryPrice,
      price: position.price,
      quantity: position.quantity,
      notional_usd: position.notionalUsd,
      unrealized_usd: position.unrealizedUsd,
      opened_ms: position.openedMs,
      stop: position.stop,
      target: position.target,
    })),
    account: {
      equity_usd: account.equityUsd,
      exposure_usd: account.exposureUsd,
      day_loss: account.dayLoss,
      drawdown: account.drawdown,
      kill_switch_level: account.killSwitchLevel,
    },
  }
}
