import type { Command } from 'commander'
import { viewBrainStatus, viewCycle } from '../../../core/views/brain.ts'
import type { State } from '../../../core/state.ts'
import { explain } from '../../../engine/queries/explanation.ts'
import { cycleText, levelCell } from '../cycle-text.ts'
import { type Bench, type CliCommand, examples } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { explanationText } from '../explanation-text.ts'
import { EXIT_OK, type ExitCode, Failure, failureOf } from '../failure.ts'
import { readState, recordDenial, recordWrite, stateOf, withExistingStore, withStore } from '../store.ts'
import { fields, quiet } from '../table.ts'
import { refuseUnknownWord } from '../unknown-word.ts'

export const brain: CliCommand = {
  group: 'Control',
  add: (program, task) => {
    const command = program
      .command('brain')
      .summary('run one brain cycle now, or see the last one')
      .description(
        'Runs one cycle: what the stored signals come to for each symbol, and the trades that follow. ' +
          'Only while the kill switch is at level 0.',
      )
      .addHelpText('after', examples('svc brain', 'svc brain status', 'svc brain explain --symbol BTC'))
    command
      .command('run', { isDefault: true })
      .summary('run one cycle (also without "run")')
      .allowExcessArguments()
      .action(task(runCycle))
    command.command('status').summary('regime, kill switch and last cycle').action(task(showStatus))
    command
      .command('explain [id]')
      .summary('why a cycle decided as it did (the last one, or a cycle or conviction by its id)')
      .option('--symbol <symbol>', 'only this symbol')
      .action(task(showExplanation))
    return command
  },
}

const runCycle = async (bench: Bench, _options: unknown, command: Command): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const cycle = await withStore(bench.dependencies, async (session) => {
    const engine = await session.openEngine()
    const id = bench.dependencies.clock.newId()
    // The events of a cycle are tied together by the cycle.
    const outcome = await engine.execute({ kind: 'run-cycle', cycleId: id, trigger: 'cli' }, { traceId: id })
    if (outcome.status === 'refused') {
      const { refusal } = outcome
      await recordDenial(engine, bench, 'brain', refusal.code.replace('.', '_'))
      throw failureOf(refusal)
    }
    const view = viewCycle({ id, events: outcome.events }, engine.state)
    await recordWrite(engine, bench, 'brain')
    return view
  })
  await bench.print.result(cycle, (paint) => cycleText(cycle, paint))
  return EXIT_OK
}

const showExplanation = async (
  { dependencies, print }: Bench,
  wanted: string | undefined,
  { symbol }: { readonly symbol?: string },
): Promise<ExitCode> => {
  const configuration = (await openConfiguration(dependencies)).current()
  const explanation = await withExistingStore(dependencies, async ({ log }) => {
    const fresh = (): Promise<State> => stateOf(log)
    const id = wanted ?? (await fresh()).brain.lastCycle?.id
    if (id === undefined)
      throw new Failure('decision.not_found', 'no cycle has run yet', { advice: 'Run one with "svc brain".' })
    const found = await explain({ log, fresh }, { id, symbol: symbol ?? null }, configuration)
    if (found === null) throw new Failure('decision.not_found', `no cycle and no conviction has the id ${id}`)
    return found
  })
  await print.result(explanation, (paint) => explanationText(explanation, paint))
  return EXIT_OK
}

const showStatus = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const status = viewBrainStatus(await readState(dependencies))
  await print.result(status, (paint) =>
    fields(
      [
        ['Regime', status.regime ?? quiet('unknown')],
        ['Changed at', status.regime_changed_at ?? quiet('never')],
        ['Kill switch', levelCell(status.kill_switch_level)],
        ['Reason', status.kill_switch_reason ?? quiet('none')],
        ['Last cycle', status.last_cycle_id ?? quiet('none')],
        ['Ran at', status.last_cycle_at ?? quiet('never')],
      ],
      paint,
    ),
  )
  return EXIT_OK
}
