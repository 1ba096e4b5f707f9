import { BEFORE_ALL } from '../../../core/shared/brand.ts'
import type { Command } from 'commander'
import { producerRegistration } from '../../../core/signals/producers.ts'
import {
  viewProducer,
  viewProducers,
  viewProducerStatus,
  type ProducerStatusView,
  type ProducerView,
} from '../../../core/views/producers.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { examples, type DefineCommand, type Invocation, type Run } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { UsageError } from '../failure.ts'
import { parsedBy, readState, write } from '../store.ts'
import { age, bad, fields, good, printable, quiet, table, warning, type Cell, type Row } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Producers compute or fetch signals on a schedule. Some are built in; others are registered by their URL.',
    )
    .addHelpText(
      'after',
      examples(
        'svc producers status',
        'svc producers register --name p1 --domain events --endpoint https://x.test',
        'svc producers remove p1',
      ),
    )
  command.command('list').summary('list registered producers by name').action(run(list))
  command.command('status').summary('health of all producers, built-in ones included').action(run(showStatus))
  addRegister(command, run)
  command
    .command('remove')
    .summary('remove a registered producer; its signals stay')
    .argument('[name]', 'as "svc producers list" shows it')
    .option('--name <name>', 'the same')
    .action(run(remove))
}

const addRegister = (parent: Command, run: Run): void => {
  parent
    .command('register')
    .summary('register a producer; its endpoint is first called on schedule')
    .requiredOption('--name <name>', 'letters, digits, dots, underscores, colons and hyphens')
    .requiredOption(
      '--domain <domain>',
      'curator, onchain, tradfi, social, technical and events carry weight',
    )
    .requiredOption('--endpoint <url>', 'http or https, without user and password')
    .option('--schedule <cron>', 'five fields, UTC (default: */15 * * * *)')
    .action(run(register))
}

const list = async ({ dependencies, print }: Invocation): Promise<void> => {
  const registered = viewProducers((await readState(dependencies)).signals.producers)
  await print.result({ producers: registered }, (style) =>
    registered.length === 0
      ? 'No producer is registered. For the built-in ones, see: svc producers status\n'
      : table(
          [
            { title: 'Name', shrink: true },
            { title: 'Domain', shrink: true },
            { title: 'Schedule' },
            { title: 'Endpoint', shrink: true },
            { title: 'Registered', align: 'right' },
          ],
          registered.map(({ name, domain, schedule, endpoint, registered_at }) => [
            name,
            domain,
            schedule,
            endpoint,
            age(registered_at, dependencies.clock.now()),
          ]),
          style,
        ),
  )
}

const showStatus = async ({ dependencies, print }: Invocation): Promise<void> => {
  const rules = (await openConfiguration(dependencies)).current().karma
  const status = viewProducerStatus(await readState(dependencies), { now: isoNow(dependencies.clock), rules })
  await print.result({ producers: status }, (style) =>
    statusText(Object.values(status), dependencies.clock.now(), style),
  )
}

interface RegisterOptions {
  readonly name: string
  readonly domain: string
  readonly endpoint: string
  readonly schedule?: string
}

const register = async (invocation: Invocation, options: RegisterOptions): Promise<void> => {
  const producer = parsedBy(producerRegistration, options)
  const [event] = await write(invocation, 'producers register', {
    kind: 'register-producer',
    producer,
    surface: 'cli',
  })
  const registered = viewProducer({ ...producer, registeredAt: event?.ts ?? BEFORE_ALL })
  await invocation.print.result(registered, (style) => fields(rowsOf(registered), style))
}

const remove = async (
  invocation: Invocation,
  argument: string | undefined,
  options: { readonly name?: string },
): Promise<void> => {
  const name = argument ?? options.name
  if (name === undefined || (argument !== undefined && options.name !== undefined)) {
    throw new UsageError('name the producer once')
  }
  await write(invocation, 'producers remove', { kind: 'remove-producer', name, surface: 'cli' })
  await invocation.print.result({ removed: name }, () => `${printable(name)} is removed\n`)
}

const rowsOf = ({ name, domain, schedule, endpoint, registered_at }: ProducerView): readonly Row[] => [
  ['Name', name],
  ['Domain', domain],
  ['Schedule', schedule],
  ['Endpoint', endpoint],
  ['Registered at', registered_at],
]

const STATUS_COLUMNS = [
  { title: 'Name', shrink: true },
  { title: 'Kind' },
  { title: 'Domain' },
  { title: 'Health' },
  { title: 'Last run', align: 'right' },
  { title: 'Signals', align: 'right' },
  { title: 'Failed', align: 'right' },
  { title: 'Karma', align: 'right' },
] as const

/** Errors are long, so they come below the table. */
const statusText = (producers: readonly ProducerStatusView[], nowMs: number, style: Style): string => {
  const rows = producers.map((producer) => [
    producer.name,
    producer.kind,
    producer.domain,
    healthCell(producer.health),
    producer.last_run_at === null ? quiet('never') : age(producer.last_run_at, nowMs),
    String(producer.events_produced),
    String(producer.consecutive_failures),
    producer.karma.toFixed(1),
  ])
  const errors = producers.flatMap(({ name, last_error }): readonly Row[] =>
    last_error === null ? [] : [[name, bad(last_error)]],
  )
  return (
    table(STATUS_COLUMNS, rows, style) +
    (errors.length === 0 ? '' : `\nLast errors:\n${fields(errors, style)}`)
  )
}

const healthCell = (health: ProducerStatusView['health']): Cell => {
  const text = health.toUpperCase()
  switch (health) {
    case 'ok':
      return good(text)
    case 'unknown':
      return quiet(text)
    case 'degraded':
    case 'stale':
      return warning(text)
    case 'error':
    case 'quarantined':
      return bad(text)
  }
}
