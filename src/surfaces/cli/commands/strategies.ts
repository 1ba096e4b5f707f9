import { parameterText } from '../../../core/strategies/parameters.ts'
import type { ParameterValues } from '../../../core/strategies/strategy.ts'
import { defaultCommand, examples, type Answer, type DefineCommand, type Invocation } from '../command.ts'
import { EXIT_FAILED } from '../failure.ts'
import { settingsOf } from '../configuration.ts'
import { readState } from '../store.ts'
import { bad, good, left, quiet, shrinking, table, warning, type Cell } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Strategies are files in the folder strategies of the home: TypeScript, JavaScript, or a program in any language. ' +
        'All of them can be used in backtests; those of the setting "strategies" trade.',
    )
    .addHelpText(
      'after',
      examples(
        'svc new strategy cross',
        'svc strategies',
        'svc strategies test',
        'svc backtest --strategy cross',
      ),
    )
  defaultCommand(command, 'list', 'list what is found, with parameters and errors').action(run(list))
  command
    .command('test')
    .summary('run the tests beside the strategies (*.test.ts)')
    .argument('[name]', 'only that of this strategy')
    .action(run(test))
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
    await stateOrNull(invocation),
    await settingsOf(invocation),
  ]
  const lines = found.map(({ name, path, description, error }): Line => {
    const wanted = settings.strategies[name]
    const record = state?.signals.producers.runs.get(name)
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

/** A home may have no log yet. */
const stateOrNull = async (invocation: Invocation) => {
  await using store = await invocation.openExistingStore()
  return store === null ? null : readState(invocation)
}

const test = async (invocation: Invocation, name: string | undefined): Promise<void> => {
  await invocation.strategies.test(name ?? null)
}
