import { viewKillSwitch } from '../../../core/views/kill-switch.ts'
import {
  INITIAL_KILL_SWITCH,
  resetKillSwitch,
  setKillSwitch,
  type KillSwitch,
} from '../../../core/trading/risk/kill-switch.ts'
import { killSwitchLevel, type KillSwitchLevel } from '../../../core/shared/level.ts'
import { answeredAsOf, withAsOf, type AsOfOption } from '../as-of.ts'
import { parser, parseReason } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { failureOf } from '../failure.ts'
import { execute, recordAccess, stateOf, withLog } from '../store.ts'
import { fields, levelCell, quiet, type Cell } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'The kill switch restricts trading: 0 normal, 1 caution (warnings), 2 crisis (exits only), ' +
        '3 lockdown (nothing without an operator). It rises by itself and is lowered only by an operator. This is ' +
        'how trading is stopped; a stop loss is something else: the price at which one position is closed.',
    )
    .examples(
      'svc kill-switch',
      'svc kill-switch set 3 --reason "exchange incident"',
      'svc kill-switch reset --reason "incident over"',
    )
  withAsOf(command.defaultCommand('status', 'show the level (also without "status")')).runs(
    async (invocation, options: AsOfOption) => {
      if (options.asOf !== undefined)
        return answeredAsOf(invocation, options, ({ state }) => answerOf(state.trading.killSwitch))
      const stored = await withLog(
        invocation,
        async (log, trust) => (await stateOf(log, trust)).trading.killSwitch,
        null,
      )
      const nothing = stored === null ? quiet(`nothing is stored in ${invocation.home} yet`) : null
      return answerOf(stored ?? INITIAL_KILL_SWITCH, nothing)
    },
  )
  command
    .command('set')
    .summary('move to any level')
    .argument('<level>', '0, 1, 2 or 3', parseLevel)
    .option('--reason <text>', 'why, for the log', parseReason, 'manual')
    .runs((invocation, level: KillSwitchLevel, { reason }: { readonly reason: string }) =>
      move(invocation, 'set', { level, reason }),
    )
  command
    .command('reset')
    .summary('lower the level')
    .option('--level <level>', 'the level to go down to', parseLevel, 0 as KillSwitchLevel)
    .requiredOption('--reason <text>', 'why, for the log', parseReason)
    .runs((invocation, target: Target) => move(invocation, 'reset', target))
}

interface Target {
  readonly level: KillSwitchLevel
  readonly reason: string
}

const DECISIONS = { set: setKillSwitch, reset: resetKillSwitch } as const

/** Rehearsed on what the log says first: a move that changes nothing, or is refused, leaves no trace at all. */
const move = async (
  invocation: Invocation,
  verb: keyof typeof DECISIONS,
  { level, reason }: Target,
): Promise<Answer> => {
  const moveBy = (operator: string) => ({ level, reason, operator, surface: 'cli' }) as const
  await using session = await invocation.openStore()
  const { killSwitch } = (await stateOf(session.log, session.trust)).trading
  const rehearsal = DECISIONS[verb](killSwitch, moveBy('rehearsal'))
  if (rehearsal.status === 'refused') throw failureOf(rehearsal.refusal)
  if (rehearsal.events.length === 0) return answerOf(killSwitch)
  const engine = await session.openEngine()
  const events = await execute(engine, { kind: `${verb}-kill-switch`, move: moveBy(engine.nodeId) })
  if (events.length > 0) await recordAccess(engine, invocation, `kill-switch ${verb}`)
  return answerOf(engine.state.trading.killSwitch)
}

const answerOf = (killSwitch: KillSwitch, store: Cell | null = null): Answer => {
  const view = viewKillSwitch(killSwitch)
  const { level, state, reason, changed_at, changed_by } = view
  const text = fields([
    ['Kill switch', levelCell(level, `${state} (level ${level})`)],
    ['Reason', reason ?? quiet('none')],
    ['Changed at', changed_at ?? quiet('never')],
    ['Changed by', changed_by ?? quiet('none')],
    ['Store', store],
  ])
  return { document: view, text }
}

const parseLevel = parser(
  (text) => killSwitchLevel.safeParse(/^[0-9]$/.test(text) ? Number(text) : null).data ?? null,
  'It must be 0, 1, 2 or 3.',
)
