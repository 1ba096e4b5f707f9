import { configurationHashInput } from '../../../core/config/secrets.ts'
import { supportedVenue, unsupportedVenue } from '../../../core/shared/venues.ts'
import type { Usd } from '../../../core/shared/money.ts'
import { feedBlockerOf } from '../../../core/trading/venue/live-prices.ts'
import { sentenceOf, viewLive } from '../../../core/views/kill-switch.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import type { Broker } from '../../../ports/broker.ts'
import { confirm, parseReason } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { settingsOf } from '../configuration.ts'
import { Failure } from '../failure.ts'
import { readPresent, write } from '../store.ts'
import { bad, fields, good, listCell, quiet, warning, type Cell, type Row } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Real orders need execution.mode live, execution.venue, the secrets broker.<venue>.api_key and ' +
        'broker.<venue>.secret, a passed check of the venue, and "svc live enable". To stop trading, raise the kill ' +
        'switch ("svc kill-switch set 2" for exits only, 3 for nothing without an operator); a stop loss is ' +
        'something else: the price at which a single position is closed.',
    )
    .examples(
      'svc live',
      'svc live enable',
      'svc live enable --confirm binanceusdm',
      'svc live resume --reason "sold by hand"',
    )
  command
    .defaultCommand('status', 'what is sent, and what keeps it from it (also without "status")')
    .runs(showStatus)
  command
    .command('enable')
    .summary('check the venue and confirm that its orders are real')
    .option('--confirm <venue>', 'its name, instead of typing it')
    .runs(enable)
  command
    .command('resume')
    .summary('let entries go again after the venue held other positions than we do')
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .runs(async (invocation, { reason }: { readonly reason: string }) => {
      await write(invocation, 'live resume', (operator) => ({
        kind: 'resume-live',
        operator,
        reason,
        surface: 'cli',
      }))
      return showStatus(invocation)
    })
}

const enable = async (
  invocation: Invocation,
  { confirm: typed }: { readonly confirm?: string },
): Promise<Answer> => {
  const configuration = await settingsOf(invocation)
  const { mode, venue } = configuration.execution
  if (venue === '' || mode !== 'live') {
    throw new Failure('live.not_ready', 'execution.mode is not live, or execution.venue names no venue', {
      advice:
        'Set both first: "svc config set execution.venue <venue>", "svc config set execution.mode live".',
    })
  }
  if (supportedVenue(venue) === null) {
    throw new Failure('live.not_ready', unsupportedVenue(venue), {
      advice: '"svc venues" lists what each of them can do.',
    })
  }
  const feed = feedBlockerOf(configuration.market, venue)
  if (feed !== null) throw new Failure('live.not_ready', sentenceOf(feed, configuration))
  if (typed !== undefined && typed !== venue) {
    throw new Failure('request.invalid', `--confirm says ${typed}, but execution.venue is ${venue}`)
  }
  const broker = await invocation.openBroker()
  try {
    const equity = await checked(broker, configuration.universe.symbols)
    const question = `From now on orders at ${venue} are real.`
    await confirm(invocation, { yes: typed === venue, word: venue, question })
    const configHash = sha256Hex(configurationHashInput(configuration))
    await write(invocation, 'live enable', (operator) => ({
      kind: 'confirm-live',
      confirmation: { venue, operator, configHash, equity },
    }))
  } finally {
    await broker.close()
  }
  return showStatus(invocation)
}

/** Money of the account. Throws for a venue that does not pass every check. */
const checked = async (broker: Broker, symbols: readonly string[]): Promise<Usd> => {
  const checks = await broker.preflight(symbols)
  const failed = checks.flatMap(({ ok, name, detail }) => (ok ? [] : `${name}: ${detail}`))
  if (failed.length > 0) throw new Failure('live.not_ready', `the venue does not pass: ${failed.join('; ')}`)
  const account = await broker.account()
  // The balance excludes the unrealized profit of positions at the venue. That profit counts when a position is
  // adopted, by its entry price.
  if (account !== null) return account.balance ?? account.equity
  throw new Failure('live.not_ready', 'the venue does not report what the account holds')
}

const showStatus = async (invocation: Invocation): Promise<Answer> => {
  const { state, clock, configuration } = await readPresent(invocation)
  const view = viewLive(state, configuration, isoNow(clock))
  const { confirmed, checks, reduce_only } = view
  const text = fields([
    ['Mode', view.mode],
    ['Venue', view.venue ?? quiet('none')],
    ['Real entries', view.sends_entries ? warning('are sent') : good('are not sent')],
    ['Held back by', listCell(view.held_back_by, 'nothing')],
    ...view.reasons.map(({ text: sentence }): Row => ['', sentence]),
    ['Confirmed', confirmed === null ? quiet('never') : `${confirmed.venue}, ${confirmed.at}`],
    ['Checks', checks === null ? quiet('none yet') : null],
    ...(checks?.items ?? []).map(({ name, ok, detail }): Row => [
      `Check ${name}`,
      ok ? good(detail) : bad(detail),
    ]),
    ['Reduce only', reduce_only === null ? quiet('no') : bad(reduce_only.reason)],
    ['Unknown orders', count(view.unknown_orders)],
    ['Adopted positions', count(view.adopted_positions)],
  ])
  return { document: view, text }
}

const count = (ids: readonly string[]): Cell => (ids.length === 0 ? '0' : bad(String(ids.length)))
