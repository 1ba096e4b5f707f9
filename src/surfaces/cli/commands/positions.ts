import { positionId } from '../../../core/shared/brand.ts'
import { Option, type Command } from 'commander'
import type { Operator } from '../../../core/trading/exits.ts'
import {
  type ClosedAllView,
  POSITION_FILTERS,
  viewClosedAll,
  viewPosition,
  viewPositions,
  type PositionFilter,
  type PositionView,
} from '../../../core/views/positions.ts'
import { POSITIONS_MAX } from '../../../engine/queries/views.ts'
import { completeId, confirm, parseReason, refuseUnknownWord } from '../arguments.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { EXIT_FAILED, EXIT_OK, Failure, UsageError, type ExitCode } from '../failure.ts'
import { readState, writeAs } from '../store.ts'
import { age, amount, bad, good, price, printable, quiet, shortIds, table, type Cell } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      `Lists positions, newest first, at most ${POSITIONS_MAX}, or closes them at the market price.`,
    )
    .addHelpText(
      'after',
      examples(
        'svc positions',
        'svc positions --status all --json',
        'svc positions close 7a6f5fd1',
        'svc positions close --all --yes',
      ),
    )
  command
    .command('list', { isDefault: true })
    .summary('list positions (the default)')
    .addOption(
      new Option('--status <status>', 'open: neither closed nor liquidated')
        .choices(POSITION_FILTERS)
        .default('open'),
    )
    .allowExcessArguments()
    .action(run(showPositions))
  command
    .command('close')
    .summary('close one or all at the market price')
    .argument('[id]', 'its id, or the beginning that "svc positions" shows')
    .option('--all', 'every open position')
    .option('--reason <text>', 'why, for the log', parseReason)
    .option('--yes', 'do not ask for confirmation')
    .action(run(close))
}

const showPositions = async (
  { dependencies, print }: Invocation,
  { status }: Pick<PositionFilter, 'status'>,
  command: Command,
): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const found = viewPositions((await readState(dependencies)).trading.positions, {
    status,
    limit: POSITIONS_MAX,
  })
  await print.result(found, (style) =>
    found.length === 0 ? `${NOTHING[status]}\n` : positionTable(found, dependencies.clock.now(), style),
  )
  return EXIT_OK
}

const NOTHING: Readonly<Record<PositionFilter['status'], string>> = {
  open: 'There are no open positions.',
  closed: 'There are no closed positions.',
  all: 'There are no positions yet.',
}

interface CloseOptions {
  readonly all?: true
  readonly yes?: true
  readonly reason?: string
}

const close = (invocation: Invocation, id: string | undefined, options: CloseOptions): Promise<ExitCode> => {
  const { all } = options
  if ((id === undefined) === (all === undefined))
    throw new UsageError('name a position by its id, or use --all')
  return id === undefined ? closeAll(invocation, options) : closeOne(invocation, id, options)
}

const closeOne = async (
  invocation: Invocation,
  typed: string,
  { yes, reason }: CloseOptions,
): Promise<ExitCode> => {
  const found = await positionOf(invocation, typed)
  const { asset, direction } = viewPosition(found)
  const question = `This closes the ${direction} position in ${printable(asset)} at the market price.`
  await confirm(invocation, { yes: yes === true, word: asset, question })
  await writeAs(invocation, 'positions close', (operator) => ({
    kind: 'close-position',
    positionId: found.id,
    by: operatorOf(operator, reason),
  }))
  const closed = viewPosition(await positionOf(invocation, found.id))
  await invocation.print.result(closed, (style) =>
    positionTable([closed], invocation.dependencies.clock.now(), style),
  )
  return EXIT_OK
}

const closeAll = async (invocation: Invocation, { yes, reason }: CloseOptions): Promise<ExitCode> => {
  const { count } = (await readState(invocation.dependencies)).trading.book
  if (count === 0) return show(invocation, { positions: [], failed: [] })
  await confirm(invocation, {
    yes: yes === true,
    word: 'close all',
    question: `This closes ${count} open positions at the market price.`,
  })
  const events = await writeAs(invocation, 'positions close --all', (operator) => ({
    kind: 'close-all',
    by: operatorOf(operator, reason),
  }))
  return show(invocation, viewClosedAll(events, (await readState(invocation.dependencies)).trading.positions))
}

const operatorOf = (operator: string, reason: string | undefined): Operator => ({
  operator,
  surface: 'cli',
  ...(reason === undefined ? {} : { note: reason }),
})

const show = async ({ dependencies, print }: Invocation, view: ClosedAllView): Promise<ExitCode> => {
  await print.result(view, (style) => closedText(view, dependencies.clock.now(), style))
  return view.failed.length === 0 ? EXIT_OK : EXIT_FAILED
}

const closedText = ({ positions: closed, failed }: ClosedAllView, nowMs: number, style: Style): string => {
  if (closed.length + failed.length === 0) return `${NOTHING.open}\n`
  const left = failed.map(({ symbol, reasons }) => `${printable(symbol)} stays open: ${reasons.join(', ')}\n`)
  return (closed.length === 0 ? '' : positionTable(closed, nowMs, style)) + left.join('')
}

const positionOf = async ({ dependencies }: Invocation, typed: string) => {
  const { positions } = (await readState(dependencies)).trading
  const id = completeId(typed, positions.keys())
  const found = positions.get(positionId(id))
  if (found !== undefined) return found
  throw new Failure('position.not_found', `no position has id ${id}`, {
    advice: '"svc positions" lists the open ones.',
    extras: { position_id: id },
  })
}

/** Open positions show their mark, closed ones their exit. */
export const positionTable = (found: readonly PositionView[], nowMs: number, style: Style): string => {
  const short = shortIds(found.map(({ id }) => id))
  return table(
    COLUMNS,
    found.map((position) => [
      position.asset,
      position.direction,
      position.status,
      amount(position.size_notional),
      price(position.entry_price),
      numberCell(position.exit_price ?? position.mark_price),
      profitCell(position.realized_pnl ?? position.unrealized_pnl),
      age(position.opened_at, nowMs),
      quiet(short(position.id)),
    ]),
    style,
  )
}

const COLUMNS = [
  { title: 'Asset', shrink: true },
  { title: 'Side' },
  { title: 'Status' },
  { title: 'Size USD', align: 'right' },
  { title: 'Entry', align: 'right' },
  { title: 'Mark/exit', align: 'right' },
  { title: 'P/L USD', align: 'right' },
  { title: 'Age', align: 'right' },
  { title: 'Position' },
] as const

const numberCell = (value: number | null): Cell => (value === null ? quiet('unknown') : price(value))

const profitCell = (value: number | null): Cell => {
  if (value === null) return quiet('unknown')
  return value < 0 ? bad(amount(value)) : good(amount(value))
}
