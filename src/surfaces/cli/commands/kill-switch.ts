import { InvalidArgumentError, type Command } from 'commander'
import { viewKillSwitch, type KillSwitchView } from '../../../core/views/kill-switch.ts'
import {
  INITIAL_KILL_SWITCH,
  resetKillSwitch,
  setKillSwitch,
  type KillSwitch,
  type OperatorMove,
} from '../../../core/trading/kill-switch.ts'
import type { Decision } from '../../../core/shared/decision.ts'
import { killSwitchLevel, type KillSwitchLevel } from '../../../core/shared/level.ts'
import { examples, type Bench, type CliCommand, type Task } from '../command.ts'
import { EXIT_OK, failureOf, type ExitCode } from '../failure.ts'
import { parseReason } from '../reason.ts'
import { execute, recordWrite, stateOf, withStore } from '../store.ts'
import { bad, fields, good, quiet, warning, type Cell } from '../table.ts'
import { refuseUnknownWord } from '../unknown-word.ts'

export const killSwitch: CliCommand = {
  group: 'Control',
  add: (program, task) => {
    const command = program
      .command('kill-switch')
      .summary('see, raise or lower the kill switch')
      .description(
        'The kill switch restricts trading: 0 normal, 1 caution (warnings), 2 crisis (exits only), ' +
          '3 lockdown (nothing without an operator). It rises by itself and is lowered only by an operator. This is ' +
          'how trading is stopped; a stop loss is something else: the price at which one position is closed.',
      )
      .addHelpText(
        'after',
        examples(
          'svc kill-switch',
          'svc kill-switch set 3 --reason "exchange incident"',
          'svc kill-switch reset --reason "incident over"',
        ),
      )
    addStatus(command, task)
    addSet(command, task)
    addReset(command, task)
    return command
  },
}

const addStatus = (parent: Command, task: Task): void => {
  parent
    .command('status', { isDefault: true })
    .summary('show the level (also without "status")')
    // Every unknown word ends up here, and deserves a better answer than "too many arguments".
    .allowExcessArguments()
    .action(task(showStatus))
}

const addSet = (parent: Command, task: Task): void => {
  parent
    .command('set')
    .summary('move to any level')
    .argument('<level>', '0, 1, 2 or 3', parseLevel)
    .option('--reason <text>', 'why, for the log', parseReason, 'manual')
    .action(
      task((bench, level: KillSwitchLevel, { reason }: { reason: string }) =>
        move(bench, 'kill-switch set', (operator) => ({
          kind: 'set-kill-switch',
          move: { level, reason, operator, surface: 'cli' },
        })),
      ),
    )
}

const addReset = (parent: Command, task: Task): void => {
  parent
    .command('reset')
    .summary('lower the level')
    .option('--level <level>', 'the level to go down to', parseLevel, 0 as KillSwitchLevel)
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .action(
      task((bench, { level, reason }: { level: KillSwitchLevel; reason: string }) =>
        move(bench, 'kill-switch reset', (operator) => ({
          kind: 'reset-kill-switch',
          move: { level, reason, operator, surface: 'cli' },
        })),
      ),
    )
}

const showStatus = async (bench: Bench, _options: unknown, command: Command): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const session = await bench.dependencies.openExistingStore()
  if (session === null) {
    const nothingStored = quiet(`nothing is stored in ${bench.dependencies.home} yet`)
    return show(bench, viewKillSwitch(INITIAL_KILL_SWITCH), [['Store', nothingStored]])
  }
  try {
    return await show(bench, viewKillSwitch((await stateOf(session.log)).trading.killSwitch))
  } finally {
    await session.close()
  }
}

/** Rehearsed on what the log says first: a move that changes nothing, or is refused, leaves no trace at all. */
const move = (bench: Bench, name: string, commandBy: (operator: string) => MoveCommand): Promise<ExitCode> =>
  withStore(bench.dependencies, async (session) => {
    const before = await stateOf(session.log)
    const rehearsal = rehearse(before.trading.killSwitch, commandBy('rehearsal'))
    if (rehearsal.status === 'refused') throw failureOf(rehearsal.refusal)
    if (rehearsal.events.length === 0) return show(bench, viewKillSwitch(before.trading.killSwitch))

    const engine = await session.openEngine()
    const events = await execute(engine, commandBy(engine.nodeId))
    if (events.length > 0) await recordWrite(engine, bench, name)
    return show(bench, viewKillSwitch(engine.state.trading.killSwitch))
  })

const show = async (
  { print }: Bench,
  view: KillSwitchView,
  remarks: readonly (readonly [string, Cell])[] = [],
): Promise<ExitCode> => {
  await print.result(view, (paint) =>
    fields(
      [
        ['Kill switch', levelCell(view)],
        ['Reason', view.reason ?? quiet('none')],
        ['Changed at', view.changed_at ?? quiet('never')],
        ['Changed by', view.changed_by ?? quiet('nobody')],
        ...remarks,
      ],
      paint,
    ),
  )
  return EXIT_OK
}

const levelCell = ({ level, state }: KillSwitchView): Cell => {
  const text = `${state} (level ${level})`
  if (level === 0) return good(text)
  return level === 1 ? warning(text) : bad(text)
}

const parseLevel = (text: string): KillSwitchLevel => {
  const level = killSwitchLevel.safeParse(/^[0-9]$/.test(text) ? Number(text) : null)
  if (!level.success) throw new InvalidArgumentError('It must be 0, 1, 2 or 3.')
  return level.data
}

interface MoveCommand {
  readonly kind: 'set-kill-switch' | 'reset-kill-switch'
  readonly move: OperatorMove
}

const rehearse = (current: KillSwitch, { kind, move: wanted }: MoveCommand): Decision =>
  kind === 'set-kill-switch' ? setKillSwitch(current, wanted) : resetKillSwitch(current, wanted)
