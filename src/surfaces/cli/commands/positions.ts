import { Option } from 'commander'
import { POSITION_FILTERS, viewPositions, type PositionFilter } from '../../../core/views/positions.ts'
import { POSITIONS_MAX } from '../../../engine/queries/positions.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { EXIT_OK, type ExitCode } from '../failure.ts'
import { positionTable } from '../position-table.ts'
import { readState } from '../store.ts'

export const positions: CliCommand = {
  group: 'Look',
  add: (program, task) =>
    program
      .command('positions')
      .summary('what is held, and what became of it')
      .description(`Shows positions, newest first, at most ${POSITIONS_MAX}.`)
      .addOption(
        new Option('--status <status>', 'open: neither closed nor liquidated')
          .choices(POSITION_FILTERS)
          .default('open'),
      )
      .addHelpText('after', examples('svc positions', 'svc positions --status all --json'))
      .action(task(showPositions)),
}

const showPositions = async (
  { workshop, print }: Bench,
  { status }: Pick<PositionFilter, 'status'>,
): Promise<ExitCode> => {
  const found = viewPositions((await readState(workshop)).positions, { status, limit: POSITIONS_MAX })
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
