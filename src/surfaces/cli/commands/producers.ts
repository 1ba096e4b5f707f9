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
import { examples, type Bench, type CliCommand, type Task } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { EXIT_OK, UsageError, type ExitCode } from '../failure.ts'
import { readState } from '../store.ts'
import { bad, fields, good, printable, quiet, table, warning, type Cell } from '../table.ts'
import { understood, write } from '../writing.ts'

export const producers: CliCommand = {
  group: 'Signals',
  add: (program, task) => {
    const command = program
      .command('producers')
      .summary('where signals come from, and how that goes')
      .description('Producers are asked for signals on a schedule. Some are built in, others are registered.')
      .addHelpText(
        'after',
        examples(
          'svc producers status',
          'svc producers register --name p1 --domain onchain --endpoint https://example.com/x',
          'svc producers remove p1',
        ),
      )
    command.command('list').summary('registered ones, by name').action(task(list))
    command.command('status').summary('the health of all, built-in ones too').action(task(showStatus))
    addRegister(command, task)
    command
      .command('remove')
      .summary('deregister one; its signals stay')
      .argument('[name]', 'as "svc producers list" shows it')
      .option('--name <name>', 'the same')
      .action(task(remove))
    return command
  },
}

const addRegister = (parent: Command, task: Task): void => {
  parent
    .command('register')
    .summary('register one; its endpoint is not contacted now')
    .requiredOption('--name <name>', 'letters, digits, dots, underscores, colons and hyphens')
    .requiredOption(
      '--domain <domain>',
      'curator, onchain, tradfi, social, technical and events carry weight',
    )
    .requiredOption('--endpoint <url>', 'http or https, without user and password')
    .option('--schedule <cron>', 'five fields, UTC (default: */15 * * * *)')
    .action(task(register))
}

const list = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const registered = viewProducers((await readState(dependencies)).signals.producers)
  await print.result({ producers: registered }, (paint) =>
    registered.length === 0
      ? 'No producer is registered. The built-in ones: svc producers status\n'
      : table(
          ['Name', 'Domain', 'Schedule', 'Endpoint', 'Registered at'].map((title) => ({ title })),
          registered.map((producer) => rowsOf(producer).map(([, cell]) => cell)),
          paint,
        ),
  )
  return EXIT_OK
}

const showStatus = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const rules = (await openConfiguration(dependencies)).current().karma
  const status = viewProducerStatus(await readState(dependencies), { now: isoNow(dependencies.clock), rules })
  await print.result({ producers: status }, (paint) =>
    table(STATUS_COLUMNS, Object.values(status).map(statusRow), paint),
  )
  return EXIT_OK
}

interface RegisterOptions {
  readonly name: string
  readonly domain: string
  readonly endpoint: string
  readonly schedule?: string
}

const register = async (bench: Bench, options: RegisterOptions): Promise<ExitCode> => {
  const producer = understood(producerRegistration, options)
  const [event] = await write(bench, 'producers register', {
    kind: 'register-producer',
    producer,
    surface: 'cli',
  })
  const registered = viewProducer({ ...producer, registeredAt: event?.ts ?? '' })
  await bench.print.result(registered, (paint) => fields(rowsOf(registered), paint))
  return EXIT_OK
}

const remove = async (
  bench: Bench,
  argument: string | undefined,
  options: { readonly name?: string },
): Promise<ExitCode> => {
  const name = argument ?? options.name
  if (name === undefined || (argument !== undefined && options.name !== undefined)) {
    throw new UsageError('name the producer once')
  }
  await write(bench, 'producers remove', { kind: 'remove-producer', name, surface: 'cli' })
  await bench.print.result({ removed: name }, () => `${printable(name)} is removed\n`)
  return EXIT_OK
}

const rowsOf = ({
  name,
  domain,
  schedule,
  endpoint,
  registered_at,
}: ProducerView): readonly (readonly [string, Cell])[] => [
  ['Name', name],
  ['Domain', domain],
  ['Schedule', schedule],
  ['Endpoint', endpoint],
  ['Registered at', registered_at],
]

const STATUS_COLUMNS = [
  { title: 'Name' },
  { title: 'Kind' },
  { title: 'Domain' },
  { title: 'Health' },
  { title: 'Last run' },
  { title: 'Signals', align: 'right' },
  { title: 'Failures', align: 'right' },
  { title: 'Karma', align: 'right' },
  { title: 'Last error' },
] as const

const statusRow = (producer: ProducerStatusView): readonly Cell[] => [
  producer.name,
  producer.kind,
  producer.domain,
  healthCell(producer.health),
  producer.last_run_at ?? quiet('never'),
  String(producer.events_produced),
  String(producer.consecutive_failures),
  producer.karma.toFixed(1),
  producer.last_error ?? '',
]

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
