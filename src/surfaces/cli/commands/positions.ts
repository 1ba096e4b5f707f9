import { positionId } from '../../../core/shared/brand.ts'
import {
  POSITION_FILTERS,
  viewClosedAll,
  viewPosition,
  viewPositions,
  type PositionFilter,
  type PositionView,
} from '../../../core/views/positions.ts'
import { unroutedIn, unroutedSentence } from '../../../core/trading/venue/unrouted.ts'
import { POSITIONS_MAX } from '../../../engine/queries/views.ts'
import { closeAll as closeAllPositions, closePosition } from '../../operator-actions.ts'
import { runsAsOf, type AnsweredFrom } from '../as-of.ts'
import { completeId, confirm, parseReason } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { EXIT_FAILED, EXIT_OK, Failure, UsageError } from '../failure.ts'
import { readState, write } from '../store.ts'
import { amount, bad, good, idColumn, price, printable, quiet, right, type Cell } from '../table.ts'
import type { Text } from '../terminal.ts'
import { list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      `Lists positions, newest first, at most ${POSITIONS_MAX}, or closes them at the market price.`,
    )
    .examples(
      'svc positions',
      'svc positions --status all --json',
      'svc positions close 7a6f5fd1',
      'svc positions close --all --yes',
    )
  const listed = command
    .defaultCommand('list', 'list positions (the default)')
    .choice('--status <status>', 'open: neither closed nor liquidated', POSITION_FILTERS, 'open')
  runsAsOf(listed, listPositions, 'positions')
  command
    .command('close')
    .summary('close one or all at the market price')
    .argument('[id]', 'its id, or the beginning that "svc positions" shows')
    .option('--all', 'every open position')
    .option('--reason <text>', 'why, for the log', parseReason)
    .option('--yes', 'do not ask for confirmation')
    .runs((invocation, id: string | undefined, options: CloseOptions) => {
      if ((id === undefined) === (options.all === undefined))
        throw new UsageError('name a position by its id, or use --all')
      return id === undefined ? closeAll(invocation, options) : closeOne(invocation, id, options)
    })
}

const listPositions = (
  { state, configuration, asOf }: AnsweredFrom,
  { status }: Pick<PositionFilter, 'status'>,
): Answer => {
  const found = viewPositions(state.trading.positions, { status, limit: POSITIONS_MAX })
  const rows = positionTable(found, NOTHING[status])
  const unrouted = asOf === null ? unroutedIn(state.trading, configuration.execution) : []
  const warnings = unrouted.map((one) => `${printable(unroutedSentence(one, configuration.execution))}.\n`)
  return { document: found, text: (style) => rows(style) + warnings.join('') }
}

const NOTHING: Readonly<Record<PositionFilter['status'], string>> = {
  open: 'There are no open positions.',
  closed: 'There are no closed positions.',
  all: 'There are no positions yet.',
}

interface CloseOptions {
  readonly all?: boolean
  readonly yes?: boolean
  readonly reason?: string
}

const closeOne = async (
  invocation: Invocation,
  typed: string,
  { yes = false, reason }: CloseOptions,
): Promise<Answer> => {
  const found = await positionOf(invocation, typed)
  const { asset, direction } = viewPosition(found)
  const question = `This closes the ${direction} position in ${printable(asset)} at the market price.`
  await confirm(invocation, { yes, word: asset, question })
  await write(invocation, 'positions close', (operator) => closePosition(found.id, reason, operator, 'cli'))
  const closed = viewPosition(await positionOf(invocation, found.id))
  return { document: closed, text: positionTable([closed]) }
}

const closeAll = async (invocation: Invocation, { yes = false, reason }: CloseOptions): Promise<Answer> => {
  const { count } = (await readState(invocation)).trading.book
  if (count === 0) return { document: { positions: [], failed: [] }, text: `${NOTHING.open}\n` }
  const question = `This closes ${count} open positions at the market price.`
  await confirm(invocation, { yes, word: 'close all', question })
  const events = await write(invocation, 'positions close --all', (operator) =>
    closeAllPositions(reason, operator, 'cli'),
  )
  const view = viewClosedAll(events, (await readState(invocation)).trading.positions)
  const { positions, failed } = view
  const remaining = failed.map(
    ({ symbol, reasons }) => `${printable(symbol)} stays open: ${reasons.join(', ')}\n`,
  )
  const closed = positionTable(positions, NOTHING.open)
  return {
    document: view,
    text: (style) => (positions.length === 0 && failed.length > 0 ? '' : closed(style)) + remaining.join(''),
    exitCode: failed.length === 0 ? EXIT_OK : EXIT_FAILED,
  }
}

const positionOf = async (invocation: Invocation, typed: string) => {
  const { positions } = (await readState(invocation)).trading
  const id = completeId(typed, positions.keys())
  const found = positions.get(positionId(id))
  if (found !== undefined) return found
  throw new Failure('position.not_found', `no position has id ${id}`, {
    advice: '"svc positions" lists the open ones.',
    extras: { position_id: id },
  })
}

/** Open positions show their mark, closed ones their exit. */
export const positionTable = (found: readonly PositionView[], none?: string): Text =>
  list(
    found,
    [
      'asset',
      ['direction', 'Side'],
      'status',
      right('Size USD', ({ size_notional }) => amount(size_notional)),
      right('Entry', ({ entry_price }) => price(entry_price)),
      right('Mark/exit', ({ exit_price, mark_price }) => priceCell(exit_price ?? mark_price)),
      right('P/L USD', ({ realized_pnl, unrealized_pnl }) => profitCell(realized_pnl ?? unrealized_pnl)),
      ['opened_at', 'Age'],
      idColumn('Position', ({ id }) => id),
    ],
    none,
  )

const priceCell = (value: number | null): Cell => (value === null ? quiet('unknown') : price(value))

const profitCell = (value: number | null): Cell => {
  if (value === null) return quiet('unknown')
  return value < 0 ? bad(amount(value)) : good(amount(value))
}
