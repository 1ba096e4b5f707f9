import { BEFORE_ALL } from '../../../core/shared/brand.ts'
import { producerRegistration } from '../../../core/signals/producers.ts'
import {
  viewProducer,
  viewProducers,
  viewProducerStatus,
  type ProducerStatusView,
} from '../../../core/views/producers.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { answeredNow, type AnsweredFrom } from '../as-of.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { UsageError } from '../failure.ts'
import { parsedBy, write } from '../store.ts'
import { bad, fields, good, left, printable, quiet, warning, type Cell, type Row } from '../table.ts'
import { list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Producers compute or fetch signals on a schedule. Some are built in; others are registered by their URL.',
    )
    .examples(
      'svc producers status',
      'svc producers register --name p1 --domain events --endpoint https://x.test',
      'svc producers remove p1',
    )
  command
    .command('list')
    .summary('list registered producers by name')
    .runs((invocation) => answeredNow(invocation, listRegistered))
  command
    .command('status')
    .summary('health of all producers, built-in ones included')
    .runs((invocation) => answeredNow(invocation, showStatus))
  command
    .command('register')
    .summary('register a producer; its endpoint is first called on schedule')
    .requiredOption('--name <name>', 'letters, digits, dots, underscores, colons and hyphens')
    .requiredOption(
      '--domain <domain>',
      'curator, onchain, tradfi, social, technical and events carry weight',
    )
    .requiredOption('--endpoint <url>', 'http or https, without user and password')
    .option('--schedule <cron>', 'five fields, UTC (default: */15 * * * *)')
    .runs(register)
  command
    .command('remove')
    .summary('remove a registered producer; its signals stay')
    .argument('[name]', 'as "svc producers list" shows it')
    .option('--name <name>', 'the same')
    .runs(remove)
}

const listRegistered = ({ state }: AnsweredFrom): Answer => {
  const producers = viewProducers(state.signals.producers)
  const text = list(
    producers,
    ['name', 'domain', left('Schedule', ({ schedule }) => schedule), 'endpoint', 'registered_at'],
    'No producer is registered. For the built-in ones, see: svc producers status',
  )
  return { document: { producers }, text }
}

const showStatus = ({ state, clock, configuration }: AnsweredFrom): Answer => {
  const status = viewProducerStatus(state, { now: isoNow(clock), rules: configuration.karma })
  const producers = Object.values(status)
  const rows = list(producers, [
    'name',
    left('Kind', ({ kind }) => kind),
    left('Domain', ({ domain }) => domain),
    left('Health', ({ health }) => healthCell(health)),
    'last_run_at',
    ['events_produced', 'Signals'],
    ['consecutive_failures', 'Failed'],
    'karma',
  ])
  // Errors are long, so they come below the table.
  const errors = producers.flatMap(({ name, last_error: error }): readonly Row[] =>
    error === null ? [] : [[name, bad(error)]],
  )
  return {
    document: { producers: status },
    text: (style) => rows(style) + (errors.length === 0 ? '' : `\nLast errors:\n${fields(errors)(style)}`),
  }
}

const register = async (invocation: Invocation, options: object): Promise<Answer> => {
  const producer = parsedBy(producerRegistration, options)
  const [event] = await write(invocation, 'producers register', () => ({
    kind: 'register-producer',
    producer,
    surface: 'cli',
  }))
  return { document: viewProducer({ ...producer, registeredAt: event?.ts ?? BEFORE_ALL }) }
}

const remove = async (
  invocation: Invocation,
  argument: string | undefined,
  options: { readonly name?: string },
): Promise<Answer> => {
  const name = argument ?? options.name
  if (name === undefined || (argument !== undefined && options.name !== undefined)) {
    throw new UsageError('name the producer once')
  }
  await write(invocation, 'producers remove', () => ({ kind: 'remove-producer', name, surface: 'cli' }))
  return { document: { removed: name }, text: `${printable(name)} is removed\n` }
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
