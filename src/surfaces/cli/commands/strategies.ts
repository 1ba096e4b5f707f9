import { parameterText } from '../../../core/strategies/parameters.ts'
import type { ParameterValues } from '../../../core/strategies/strategy.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { EXIT_FAILED, Failure } from '../failure.ts'
import { collectParameters } from '../arguments.ts'
import { setKey } from './config.ts'
import { settingsOf } from '../configuration.ts'
import { readState } from '../store.ts'
import { bad, good, left, quiet, shrinking, table, warning, type Cell } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Strategies are files in the folder strategies of the home: TypeScript, JavaScript, or a program in any language. ' +
        'All of them can be used in backtests; those of the setting "strategies" trade.',
    )
    .examples(
      'svc new strategy cross',
      'svc strategies',
      'svc strategies test',
      'svc strategies enable cross --set fast=5 --symbol BTC ETH',
      'svc backtest --strategy cross',
    )
  command.defaultCommand('list', 'list what is found, with parameters and errors').runs(list)
  command
    .command('enable')
    .summary('let the service trade a strategy')
    .argument('<name>', 'as "svc strategies" shows it')
    .option('--set <key=value>', 'a parameter, such as fast=5; may be repeated', collectParameters)
    .option('--symbol <symbols...>', 'only these symbols (default: the whole universe)')
    .runs(enable)
  command
    .command('disable')
    .summary('stop trading a strategy; its open positions keep their stops')
    .argument('<name>', 'as "svc strategies" shows it')
    .runs(disable)
  command
    .command('test')
    .summary('run the tests beside the strategies (*.test.ts)')
    .argument('[name]', 'only that of this strategy')
    .runs(({ strategies }, name: string | undefined) => strategies.test(name ?? null))
}

interface Line {
  readonly name: string
  readonly file: string | null
  readonly description: string
  readonly parameters: readonly string[]
  readonly status: 'built in' | 'found' | 'trading' | 'quarantined' | 'failing' | 'broken' | 'missing'
  readonly error: string | null
  readonly settings: ParameterValues | null
}

const list = async (invocation: Invocation): Promise<Answer> => {
  const [found, state, settings] = [
    await invocation.strategies.list(),
    await readState(invocation),
    await settingsOf(invocation),
  ]
  const lines = found.map(({ name, path, description, error }): Line => {
    const wanted = settings.strategies[name]
    const record = state.signals.producers.runs.get(name)
    const isTrading = wanted?.enabled === true
    const health = isTrading && record !== undefined ? HEALTH[record.health] : undefined
    return {
      name,
      file: path,
      description: description?.description ?? '',
      parameters: description?.parameters.map(parameterText) ?? [],
      status:
        error === null
          ? (health ?? (isTrading ? 'trading' : path === null ? 'built in' : 'found'))
          : 'broken',
      error: error ?? (health === undefined ? null : (record?.lastError ?? null)),
      settings: isTrading ? wanted.parameters : null,
    }
  })
  const missing = Object.entries(settings.strategies)
    .filter(([name, { enabled }]) => enabled && !found.some((strategy) => strategy.name === name))
    .map(([name, { parameters }]): Line => ({
      name,
      file: null,
      description: '',
      parameters: [],
      status: 'missing',
      error: 'the settings name it, but there is no file of this name in the folder strategies',
      settings: parameters,
    }))
  const all = [...lines, ...missing]
  const text = table(all, [
    shrinking('Name', ({ name }) => name),
    left('Status', statusCell),
    shrinking('Parameters', ({ parameters }) => parameters.join('; ')),
    shrinking('About', ({ description, error }): Cell => (error === null ? quiet(description) : bad(error))),
  ])
  const isBroken = all.some(({ status }) => status === 'broken' || status === 'missing')
  return { document: { strategies: all }, text, ...(isBroken ? { exitCode: EXIT_FAILED } : {}) }
}

const HEALTH: Readonly<Record<string, Line['status'] | undefined>> = {
  quarantined: 'quarantined',
  error: 'failing',
}

const statusCell = ({ status }: Line): Cell => {
  switch (status) {
    case 'trading':
      return good(status)
    case 'quarantined':
    case 'broken':
    case 'missing':
      return bad(status)
    case 'failing':
      return warning(status)
    case 'built in':
    case 'found':
      return status
  }
}

const enable = async (
  invocation: Invocation,
  name: string,
  { set = {}, symbol: symbols = [] }: { readonly set?: ParameterValues; readonly symbol?: readonly string[] },
): Promise<Answer> => {
  const checked = await invocation.strategies.check(name, set)
  const parameters = Object.fromEntries(Object.keys(set).map((key) => [key, checked[key] ?? '']))
  return setStrategy(invocation, name, { enabled: true, parameters, symbols })
}

const disable = async (invocation: Invocation, name: string): Promise<Answer> => {
  const { strategies } = await settingsOf(invocation)
  if (!Object.hasOwn(strategies, name)) {
    const names = Object.keys(strategies)
    const known =
      names.length === 0 ? 'the settings name no strategy' : `the settings name ${names.join(', ')}`
    throw new Failure('strategy.not_found', `${name} does not trade: ${known}`)
  }
  return setStrategy(invocation, name, { enabled: false })
}

const setStrategy = (invocation: Invocation, name: string, settings: object): Promise<Answer> =>
  setKey(invocation, { path: ['strategies'] }, JSON.stringify({ [name]: settings }))
