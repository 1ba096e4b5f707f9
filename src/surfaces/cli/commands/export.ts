import { Option, type Command } from 'commander'
import { examples, type DefineCommand } from '../command.ts'
import { EVENTS } from '../event-export.ts'
import { EXPORT_FORMATS } from '../export-layout.ts'
import { exportItems, type ExportOptions } from '../exporting.ts'
import { KARMA } from '../karma-export.ts'
import { parseFrom, parseTo } from '../moments.ts'

export const define: DefineCommand = (command, run) => {
  command.description('Writes what is stored, for others to keep, to read or to verify.')
  withExportOptions(command.command('events'), 'events')
    .summary('event records with hashes and signatures, in order')
    .description(
      'Writes event records in the order of the log, as they are stored: nothing is redacted, since a changed ' +
        'record would no longer verify.',
    )
    .addHelpText(
      'after',
      examples(
        'svc export events --output events.jsonl',
        'svc integrity --file events.jsonl',
        'svc export events --format csv --from 2026-02-01 --to 2026-02-28 > february.csv',
      ),
    )
    .action(run((invocation, options: ExportOptions) => exportItems(invocation, EVENTS, options)))
  withExportOptions(command.command('karma'), 'intents')
    .summary('karma intents, whether they are settled, and their place in the chain')
    .description('Writes what profitable trades owe, as it is stored, with the receipt where it was settled.')
    .addHelpText('after', examples('svc export karma', 'svc export karma --format csv --output karma.csv'))
    .action(run((invocation, options: ExportOptions) => exportItems(invocation, KARMA, options)))
}

const withExportOptions = (command: Command, plural: string): Command =>
  command
    .addOption(
      new Option('--format <format>', 'one item per line, one array, or a table (default: jsonl)').choices(
        EXPORT_FORMATS,
      ),
    )
    .option('--from <date>', `only ${plural} at or after this date or time`, parseFrom)
    .option('--to <date>', `only ${plural} at or before this date or time`, parseTo)
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--force', 'replace the file if it exists')
