import type { Command } from 'commander'
import { configurationHashInput } from '../../../core/config/secrets.ts'
import { INITIAL_STATE } from '../../../core/state.ts'
import { viewLive, type LiveView } from '../../../core/views/kill-switch.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import type { Broker, BrokerCheck } from '../../../ports/broker.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { confirm } from '../confirmation.ts'
import { openConfiguration } from '../configuration.ts'
import { EXIT_OK, Failure, type ExitCode } from '../failure.ts'
import { stateOf } from '../store.ts'
import type { Paint } from '../style.ts'
import { bad, fields, good, printable, quiet, warning, type Cell } from '../table.ts'
import { parseReason } from '../reason.ts'
import { refuseUnknownWord } from '../unknown-word.ts'
import { writeAs } from '../writing.ts'

export const live: CliCommand = {
  group: 'Control',
  add: (program, task) => {
    const command = program
      .command('live')
      .summary('whether real orders are sent; enable or resume it')
      .description(
        'Real orders need execution.mode live, execution.venue, the secrets broker.<venue>.api_key and ' +
          'broker.<venue>.secret, a passed check of the venue, and "svc live enable". To stop trading, raise the kill ' +
          'switch ("svc kill-switch set 2" for exits only, 3 for nothing without an operator); a stop loss is ' +
          'something else: the price at which a single position is closed.',
      )
      .addHelpText(
        'after',
        examples(
          'svc live',
          'svc live enable',
          'svc live enable --confirm binanceusdm',
          'svc live resume --reason "sold by hand"',
        ),
      )
    command
      .command('status', { isDefault: true })
      .summary('what is sent, and what keeps it from it (also without "status")')
      // Every unknown word ends up here, and deserves a better answer than "too many arguments".
      .allowExcessArguments()
      .action(task(showStatus))
    command
      .command('enable')
      .summary('check the venue and confirm that its orders are real')
      .option('--confirm <venue>', 'its name, instead of typing it')
      .action(task(enable))
    command
      .command('resume')
      .summary('let entries go again after the venue held other positions than we do')
      .requiredOption('--reason <text>', 'why, for the log', parseReason)
      .action(task(resume))
    return command
  },
}

const showStatus = async (bench: Bench, _options: unknown, command: Command): Promise<ExitCode> => {
  refuseUnknownWord(command)
  return show(bench)
}

const enable = async (bench: Bench, { confirm: typed }: { readonly confirm?: string }): Promise<ExitCode> => {
  const { dependencies } = bench
  const configuration = (await openConfiguration(dependencies)).current()
  const { mode, venue } = configuration.execution
  if (venue === '' || mode !== 'live') {
    throw new Failure('live.not_ready', 'execution.mode is not live, or execution.venue names no venue', {
      advice:
        'Set both first: "svc config set execution.venue <venue>", "svc config set execution.mode live".',
    })
  }
  if (typed !== undefined && typed !== venue) {
    throw new Failure('request.invalid', `--confirm says ${typed}, but execution.venue is ${venue}`)
  }
  const broker = await dependencies.openBroker()
  try {
    const equity = await checked(broker, configuration.universe.symbols)
    await confirm(bench, {
      yes: typed === venue,
      word: venue,
      question: `From now on orders at ${venue} are real.`,
    })
    const configHash = sha256Hex(configurationHashInput(configuration))
    await writeAs(bench, 'live enable', (operator) => ({
      kind: 'confirm-live',
      confirmation: { venue, operator, configHash, equity },
    }))
  } finally {
    await broker.close()
  }
  return show(bench)
}

/** What the account holds; nothing is confirmed at a venue that does not pass every check. */
const checked = async (broker: Broker, symbols: readonly string[]): Promise<bigint> => {
  const checks = await broker.preflight(symbols)
  const failed = checks.filter(({ ok }) => !ok)
  if (failed.length > 0) {
    throw new Failure('live.not_ready', `the venue does not pass: ${failed.map(sentence).join('; ')}`)
  }
  const account = await broker.account()
  if (account === null) throw new Failure('live.not_ready', 'the venue does not tell what the account holds')
  return account.equity
}

const sentence = ({ name, detail }: BrokerCheck): string => `${name}: ${detail}`

const resume = async (bench: Bench, { reason }: { readonly reason: string }): Promise<ExitCode> => {
  await writeAs(bench, 'live resume', (operator) => ({
    kind: 'resume-live',
    operator,
    reason,
    surface: 'cli',
  }))
  return show(bench)
}

const show = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const configuration = (await openConfiguration(dependencies)).current()
  const session = await dependencies.openExistingStore()
  try {
    const state = session === null ? INITIAL_STATE : await stateOf(session.log)
    const view = viewLive(state, configuration, isoNow(dependencies.clock))
    await print.result(view, (paint) => liveText(view, paint))
  } finally {
    await session?.close()
  }
  return EXIT_OK
}

const liveText = (view: LiveView, paint: Paint): string =>
  fields(
    [
      ['Mode', view.mode],
      ['Venue', view.venue ?? quiet('none')],
      ['Real entries', view.sends_entries ? warning('are sent') : good('are not sent')],
      ['Held back by', view.held_back_by.length === 0 ? quiet('nothing') : view.held_back_by.join(', ')],
      [
        'Confirmed',
        view.confirmed === null ? quiet('never') : `${view.confirmed.venue}, ${view.confirmed.at}`,
      ],
      ...checkFields(view),
      ['Reduce only', view.reduce_only === null ? quiet('no') : bad(printable(view.reduce_only.reason))],
      ['Unknown orders', count(view.unknown_orders)],
      ['Adopted positions', count(view.adopted_positions)],
    ],
    paint,
  )

const checkFields = ({ checks }: LiveView): readonly (readonly [string, Cell])[] => {
  if (checks === null) return [['Checks', quiet('none yet')]]
  return checks.items.map(({ name, ok, detail }) => [
    `Check ${name}`,
    ok ? good(printable(detail)) : bad(printable(detail)),
  ])
}

const count = (ids: readonly string[]): Cell => (ids.length === 0 ? '0' : bad(String(ids.length)))
