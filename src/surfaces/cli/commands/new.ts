import { STRATEGY_NAME, STRATEGY_NAME_RULE } from '../../../core/shared/strategy-name.ts'
import { parser } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { fields } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description('Writes a file of your own, with its test, into the home.')
    .examples('svc new strategy cross', 'svc new strategy cross --python', 'svc new producer range')
  command
    .command('strategy')
    .summary('a strategy: a moving-average cross to begin with')
    .argument('<name>', 'of the strategy and of its file', parseName)
    .option('--python', 'as a Python program that reads and writes lines of JSON')
    .runs(newStrategy)
  command
    .command('producer')
    .summary('a producer of signals from market data')
    .argument('<name>', 'of the producer and of its file', parseName)
    .runs(newProducer)
}

const parseName = parser((text) => (STRATEGY_NAME.test(text) ? text : null), `It ${STRATEGY_NAME_RULE}.`)

const newStrategy = async (
  invocation: Invocation,
  name: string,
  { python = false }: { readonly python?: boolean },
): Promise<Answer> => {
  const files = await invocation.strategies.create(name, python ? 'python' : 'typescript')
  const text = fields([
    ...files.map((file) => ['Written', file] as const),
    ['Test it', python ? `svc backtest --strategy ${name}` : `svc strategies test ${name}`],
    ['Try it', `svc backtest --strategy ${name} --set fast=5`],
    ['Trade it', `svc strategies enable ${name}`],
  ])
  return { document: { files }, text }
}

const newProducer = async (invocation: Invocation, name: string): Promise<Answer> => {
  const files = await invocation.strategies.create(name, 'producer')
  const text = fields([
    ...files.map((file) => ['Written', file] as const),
    ['Runs', 'with the next start of the service: svc producers status'],
  ])
  return { document: { files }, text }
}
