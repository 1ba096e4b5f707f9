import type { Command } from 'commander'
import type { JsonObject } from '../../core/shared/json.ts'
import type { Paint } from './style.ts'
import { fields } from './table.ts'

export const ABOUT = 'An event-sourced trading engine: signed, hash-chained, replayable.'

/** What a newcomer sees: three things to do first, then everything there is. */
export const overviewText = (program: Command, version: string, paint: Paint): string => {
  const { commands } = program
  // One list for all groups, so that they stand in line.
  const lines = fields(
    commands.map((command) => [command.name(), command.summary()]),
    paint,
  ).split('\n')
  const groups = [...new Set(commands.map((command) => command.helpGroup()))]
  const linesOf = (group: string): readonly string[] =>
    lines.filter((_, index) => commands[index]?.helpGroup() === group)
  return [
    `svc ${version}. ${ABOUT}`,
    '',
    paint('heading', 'First steps:'),
    ...indented(fields(FIRST_STEPS, paint).trimEnd().split('\n')),
    ...groups.flatMap((group) => ['', paint('heading', group), ...indented(linesOf(group))]),
    '',
    'Help on one of them: svc <command> --help',
    '',
  ].join('\n')
}

/** The same for programs. */
export const overviewOf = (program: Command, version: string): JsonObject => ({
  version,
  commands: program.commands.map((command) => ({
    name: command.name(),
    group: command.helpGroup().replace(/:$/, ''),
    summary: command.summary(),
  })),
})

const FIRST_STEPS = [
  ['svc up', 'start everything in this folder; it tells where it listens'],
  ['svc health', 'see whether all is well'],
  ['svc kill-switch set 3', 'stop all trading, now'],
] as const

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`)
