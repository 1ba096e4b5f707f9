import { type Command, Option } from 'commander'
import type { Operator } from '../../../core/trading/exits.ts'
import {
  type ClosedAllView,
  POSITION_FILTERS,
  type PositionFilter,
  viewClosedAll,
  viewPosition,
  viewPositions,
} from '../../../core/views/positions.ts'
import { POSITIONS_MAX } from '../../../engine/queries/positions.ts'
import { type Bench, type CliCommand, examples } from '../command.ts'
import { confirm } from '../confirmation.ts'
import { EXIT_FAILED, EXIT_OK, type ExitCode, Failure, UsageError } from '../failure.ts'
import { positionTable } from '../position-table.ts'
import { parseReason } from '../reason.ts'
import { readState } from '../store.ts'
import type { Paint } from '../style.ts'
import { printable } from '../table.ts'
import { refuseUnknownWord } from '../unknown-word.ts'
import { writeAs } from '../writing.ts'

export const positions: CliCommand = {
  group: 'Look',
  add: (program, task) => {
    const command = program
      .command('positions')
      .summary('what is held, and what became of it; close it')
      .description(`Shows positions, newest first, at most ${POSITIONS_MAX}, or closes them at the market.`)
      .addHelpText(
        'after',
        examples(
          'svc positions',
          'svc positions --status all --json',
          'svc positions close 7a6f5fd1-3fec-8898-920c-316e45423d1a',
          'svc positions close --all --yes',
        ),
      )
    command
      .command('list', { isDefault: true })
      .summary('show them (also without "list")')
      .addOption(
        new Option('--status <status>', 'open: neither closed nor liquidated')
          .choices(POSITION_FILTERS)
          .default('open'),
      )
      // Every unknown word ends up here, and deserves a better answer than "too many arguments".
      .allowExcessArguments()
      .action(task(showPositions))
    command
      .command('close')
      .summary('close one or all at the market')
      .argument('[id]', 'as "svc positions" shows it')
      .option('--all', 'every open position')
      .option('--reason <text>', 'why, for the log', parseReason)
      .option('--yes', 'do not ask')
      .action(task(close))
    return command
  },
}

const showPositions = async (
  { dependencies, print }: Bench,
  { status }: Pick<PositionFilter, 'status'>,
  command: Command,
): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const found = viewPositions((await readState(dependencies)).trading.positions, {
    status,
    limit: POSITIONS_MAX,
  })
  await print.result(found, (paint) =>
    found.length === 0 ? `${NOTHING[status]}\n` : positionTable(found, paint),
  )
  return EXIT_OK
}

const NOTHING: Readonly<Record<PositionFilter['status'], string>> = {
  open: 'No position is open.',
  closed: 'No position is closed.',
  all: 'There was no position yet.',
}

interface CloseOptions {
  readonly all?: true
  readonly yes?: true
  readonly reason?: string
}

const close = (bench: Bench, id: string | undefined, options: CloseOptions): Promise<ExitCode> => {
  const { all } = options
  if ((id === undefined) === (all === undefined)) throw new UsageError('name a position by its id, or --all')
  return id === undefined ? closeAll(bench, options) : closeOne(bench, id, options)
}

const closeOne = async (
  bench: Bench,
  positionId: string,
  { yes, reason }: CloseOptions,
): Promise<ExitCode> => {
  const { asset, direction } = viewPosition(await positionOf(bench, positionId))
  const question = `This closes the ${direction} position in ${printable(asset)} at the market.`
  await confirm(bench, { yes: yes === true, word: asset, question })
  await writeAs(bench, 'positions close', (operator) => ({
    kind: 'close-position',
    positionId,
    by: operatorOf(operator, reason),
  }))
  const closed = viewPosition(await positionOf(bench, positionId))
  await bench.print.result(closed, (paint) => positionTable([closed], paint))
  return EXIT_OK
}

const closeAll = async (bench: Bench, { yes, reason }: CloseOptions): Promise<ExitCode> => {
  const { count } = (await readState(bench.dependencies)).trading.book
  if (count === 0) return show(bench, { positions: [], failed: [] })
  await confirm(bench, {
    yes: yes === true,
    word: 'close all',
    question: `This closes ${count} open at the market.`,
  })
  const events = await writeAs(bench, 'positions close --all', (operator) => ({
    kind: 'close-all',
    by: operatorOf(operator, reason),
  }))
  return show(bench, viewClosedAll(events, (await readState(bench.dependencies)).trading.positions))
}

const operatorOf = (operator: string, reason: string | undefined): Operator => ({
  operator,
  surface: 'cli',
  ...(reason === undefined ? {} : { note: reason }),
})

const show = async ({ print }: Bench, view: ClosedAllView): Promise<ExitCode> => {
  await print.result(view, (paint) => closedText(view, paint))
  return view.failed.length === 0 ? EXIT_OK : EXIT_FAILED
}

const closedText = ({ positions: closed, failed }: ClosedAllView, paint: Paint): string => {
  if (closed.length + failed.length === 0) return `${NOTHING.open}\n`
  const left = failed.map(({ symbol, reasons }) => `${printable(symbol)} stays open: ${reasons.join(', ')}\n`)
  return (closed.length === 0 ? '' : positionTable(closed, paint)) + left.join('')
}

const positionOf = async ({ dependencies }: Bench, id: string) => {
  const found = (await readState(dependencies)).trading.positions.get(id)
  if (found !== undefined) return found
  throw new Failure('position.not_found', `no position has id ${id}`, {
    advice: 'See what is held with "svc positions".',
    extras: { position_id: id },
  })
}
