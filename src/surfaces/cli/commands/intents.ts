import { InvalidArgumentError, Option, type Command } from 'commander'
import { INTENT_FILTERS, viewIntent, viewIntents, type IntentFilter } from '../../../core/views/orders.ts'
import { examples, type Bench, type CliCommand, type Task } from '../command.ts'
import { EXIT_OK, Failure, type ExitCode } from '../failure.ts'
import { intentTable, intentText } from '../intent-table.ts'
import { parseLimitUpTo } from '../limit.ts'
import { readState } from '../store.ts'
import { refuseUnknownWord } from '../unknown-word.ts'
import { writeAs } from '../writing.ts'

export const intents: CliCommand = {
  group: 'Control',
  add: (program, task) => {
    const command = program
      .command('intents')
      .summary('what the brain wants to trade; approve or deny it')
      .description(
        'Intents of the brain, newest first, with what became of them and why. Large ones may wait for an operator.',
      )
      .addHelpText(
        'after',
        examples(
          'svc intents',
          'svc intents --status awaiting_approval',
          'svc intents approve 019c7874-0f70-7c3e-9a51-2f6f0c1b7a10 --note "size is fine"',
          'svc intents deny 019c7874-0f70-7c3e-9a51-2f6f0c1b7a10',
        ),
      )
    command
      .command('list', { isDefault: true })
      .summary('show them (also without "list")')
      .addOption(
        new Option('--status <status>', 'only those with this status').choices(INTENT_FILTERS).default('all'),
      )
      .option('--limit <number>', `how many, up to ${INTENTS_MAX}`, parseLimitUpTo(INTENTS_MAX), 100)
      // Every unknown word ends up here, and deserves a better answer than "too many arguments".
      .allowExcessArguments()
      .action(task(list))
    addJudgement(command, task, 'approve', 'let one that waits be executed at once')
    addJudgement(command, task, 'deny', 'end one that waits')
    return command
  },
}

const INTENTS_MAX = 500
const NOTE_LENGTH_MAX = 500

type Verdict = 'approve' | 'deny'

const addJudgement = (parent: Command, task: Task, verdict: Verdict, summary: string): void => {
  parent
    .command(verdict)
    .summary(summary)
    .argument('<id>', 'as "svc intents" shows it')
    .option('--note <text>', 'why, for the log', parseNote)
    .action(
      task((bench, id: string, { note }: { readonly note?: string }) =>
        judge(bench, verdict, id, note ?? null),
      ),
    )
}

const list = async (
  { dependencies, print }: Bench,
  filter: IntentFilter,
  command: Command,
): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const found = viewIntents((await readState(dependencies)).trading.intents, filter)
  await print.result(found, (paint) =>
    found.length === 0 ? 'There is no such intent.\n' : intentTable(found, paint),
  )
  return EXIT_OK
}

const judge = async (
  bench: Bench,
  verdict: Verdict,
  intentId: string,
  note: string | null,
): Promise<ExitCode> => {
  await writeAs(bench, `intents ${verdict}`, (operator) => ({
    kind: `${verdict}-intent`,
    decision: { intentId, operator, note, surface: 'cli' },
  }))
  const known = (await readState(bench.dependencies)).trading.intents.get(intentId)
  if (known === undefined) throw new Failure('intent.not_found', `no intent has id ${intentId}`)
  const view = viewIntent(known)
  await bench.print.result(view, (paint) => intentText(view, paint))
  return EXIT_OK
}

const parseNote = (text: string): string => {
  const note = text.trim()
  if (note.length >= 1 && note.length <= NOTE_LENGTH_MAX && note.isWellFormed()) return note
  throw new InvalidArgumentError(`It must have 1 to ${NOTE_LENGTH_MAX} characters.`)
}
