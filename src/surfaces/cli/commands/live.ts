import type { Usd } from '../../../core/shared/money.ts'
import type { Command } from 'commander'
import { configurationHashInput } from '../../../core/config/secrets.ts'
import { viewLive, type LiveView } from '../../../core/views/kill-switch.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import type { Broker, BrokerCheck } from '../../../ports/broker.ts'
import { confirm, parseReason, refuseUnknownWord } from '../arguments.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { Failure } from '../failure.ts'
import { readState, writeAs } from '../store.ts'
import type { Style } from '../terminal.ts'
import { bad, fields, good, printable, quiet, warning, type Cell, type Row } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
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
    .allowExcessArguments()
    .action(run(showStatus))
  command
    .command('enable')
    .summary('check the venue and confirm that its orders are real')
    .option('--confirm <venue>', 'its name, instead of typing it')
    .action(run(enable))
  command
    .command('resume')
    .summary('let entries go again after the venue held other positions than we do')
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .action(run(resume))
}

const showStatus = async (invocation: Invocation, _options: unknown, command: Command): Promise<void> => {
  refuseUnknownWord(command)
  return show(invocation)
}

const enable = async (
  invocation: Invocation,
  { confirm: typed }: { readonly confirm?: string },
): Promise<void> => {
  const { dependencies } = invocation
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
    await confirm(invocation, {
      yes: typed === venue,
      word: venue,
      question: `From now on orders at ${venue} are real.`,
    })
    const configHash = sha256Hex(configurationHashInput(configuration))
    await writeAs(invocation, 'live enable', (operator) => ({
      kind: 'confirm-live',
      confirmation: { venue, operator, configHash, equity },
    }))
  } finally {
    await broker.close()
  }
  return show(invocation)
}

/** What the account holds; nothing is confirmed at a venue that does not pass every check. */
const checked = async (broker: Broker, symbols: readonly string[]): Promise<Usd> => {
  const checks = await broker.preflight(symbols)
  const failed = checks.filter(({ ok }) => !ok)
  if (failed.length > 0) {
    throw new Failure('live.not_ready', `the venue does not pass: ${failed.map(sentence).join('; ')}`)
  }
  const account = await broker.account()
  if (account === null)
    throw new Failure('live.not_ready', 'the venue does not report what the account holds')
  return account.equity
}

const sentence = ({ name, detail }: BrokerCheck): string => `${name}: ${detail}`

const resume = async (invocation: Invocation, { reason }: { readonly reason: string }): Promise<void> => {
  await writeAs(invocation, 'live resume', (operator) => ({
    kind: 'resume-live',
    operator,
    reason,
    surface: 'cli',
  }))
  return show(invocation)
}

const show = async ({ dependencies, print }: Invocation): Promise<void> => {
  const configuration = (await openConfiguration(dependencies)).current()
  const view = viewLive(await readState(dependencies), configuration, isoNow(dependencies.clock))
  await print.result(view, (style) => liveText(view, style))
}

const liveText = (view: LiveView, style: Style): string =>
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
    style,
  )

const checkFields = ({ checks }: LiveView): readonly Row[] => {
  if (checks === null) return [['Checks', quiet('none yet')]]
  return checks.items.map(({ name, ok, detail }) => [
    `Check ${name}`,
    ok ? good(printable(detail)) : bad(printable(detail)),
  ])
}

const count = (ids: readonly string[]): Cell => (ids.length === 0 ? '0' : bad(String(ids.length)))
