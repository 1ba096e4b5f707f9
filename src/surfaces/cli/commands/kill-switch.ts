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
import { parseReason, refuseUnknownWord } from '../arguments.ts'
import { examples, type Invocation, type DefineCommand, type Run } from '../command.ts'
import { failureOf } from '../failure.ts'
import { execute, recordWrite, stateOf, withStore } from '../store.ts'
import { bad, fields, good, quiet, warning, type Cell, type Row } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
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
  addStatus(command, run)
  addSet(command, run)
  addReset(command, run)
}

const addStatus = (parent: Command, run: Run): void => {
  parent
    .command('status', { isDefault: true })
    .summary('show the level (also without "status")')
    .allowExcessArguments()
    .action(run(showStatus))
}

const addSet = (parent: Command, run: Run): void => {
  parent
    .command('set')
    .summary('move to any level')
    .argument('<level>', '0, 1, 2 or 3', parseLevel)
    .option('--reason <text>', 'why, for the log', parseReason, 'manual')
    .action(
      run((invocation, level: KillSwitchLevel, { reason }: { reason: string }) =>
        move(invocation, 'kill-switch set', (operator) => ({
          kind: 'set-kill-switch',
          move: { level, reason, operator, surface: 'cli' },
        })),
      ),
    )
}

const addReset = (parent: Command, run: Run): void => {
  parent
    .command('reset')
    .summary('lower the level')
    .option('--level <level>', 'the level to go down to', parseLevel, 0 as KillSwitchLevel)
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .action(
      run((invocation, { level, reason }: { level: KillSwitchLevel; reason: string }) =>
        move(invocation, 'kill-switch reset', (operator) => ({
          kind: 'reset-kill-switch',
          move: { level, reason, operator, surface: 'cli' },
        })),
      ),
    )
}

const showStatus = async (invocation: Invocation, _options: unknown, command: Command): Promise<void> => {
  refuseUnknownWord(command)
  const session = await invocation.dependencies.openExistingStore()
  if (session === null) {
    const nothingStored = quiet(`nothing is stored in ${invocation.dependencies.home} yet`)
    return show(invocation, viewKillSwitch(INITIAL_KILL_SWITCH), [['Store', nothingStored]])
  }
  try {
    return await show(
      invocation,
      viewKillSwitch((await stateOf(session.log, await session.trust())).trading.killSwitch),
    )
  } finally {
    await session.close()
  }
}

/** Rehearsed on what the log says first: a move that changes nothing, or is refused, leaves no trace at all. */
const move = (
  invocation: Invocation,
  name: string,
  commandBy: (operator: string) => MoveCommand,
): Promise<void> =>
  withStore(invocation.dependencies, async (session) => {
    const before = await stateOf(session.log, await session.trust())
    const rehearsal = rehearse(before.trading.killSwitch, commandBy('rehearsal'))
    if (rehearsal.status === 'refused') throw failureOf(rehearsal.refusal)
    if (rehearsal.events.length === 0) return show(invocation, viewKillSwitch(before.trading.killSwitch))

    const engine = await session.openEngine()
    const events = await execute(engine, commandBy(engine.nodeId))
    if (events.length > 0) await recordWrite(engine, invocation, name)
    return show(invocation, viewKillSwitch(engine.state.trading.killSwitch))
  })

const show = async (
  { print }: Invocation,
  view: KillSwitchView,
  remarks: readonly Row[] = [],
): Promise<void> => {
  await print.result(view, (style) =>
    fields(
      [
        ['Kill switch', levelCell(view)],
        ['Reason', view.reason ?? quiet('none')],
        ['Changed at', view.changed_at ?? quiet('never')],
        ['Changed by', view.changed_by ?? quiet('none')],
        ...remarks,
      ],
      style,
    ),
  )
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
