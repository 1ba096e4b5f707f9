import { type Command, InvalidArgumentError, Option } from 'commander'
import { activeByNode } from '../../../core/signals/contributors.ts'
import { DIRECTIONS } from '../../../core/signal-types/declare.ts'
import { viewSubmission } from '../../../core/views/signals.ts'
import { assert } from '../../../core/shared/assert.ts'
import type { Engine } from '../../../engine/engine.ts'
import { type Bench, type CliCommand, examples } from '../command.ts'
import { openConfiguration } from '../configuration.ts'
import { EXIT_OK, type ExitCode, failureOf, UsageError } from '../failure.ts'
import { type Draft, draftsOf, type Opinion, SOURCE } from '../opinion.ts'
import { execute, recordWrite, withStore } from '../store.ts'
import { good, quiet, table } from '../table.ts'
import { readTextFile } from '../text-file.ts'

export const signal: CliCommand = {
  group: 'Signals',
  add: (program, task) => {
    const command = program
      .command('signal')
      .summary('say what you think of a symbol')
      .description(
        'Stores an opinion as signals of this node, one per symbol: those of --symbols, else those of the universe ' +
          'that the text names, else GLOBAL, which the brain does not use.',
      )
      .argument('[text...]', 'why (the rationale), up to 20000 characters')
      .option('--symbols <list>', 'such as BTC,ETH', parseSymbols)
      .addOption(
        new Option('--direction <direction>', 'where it goes').choices(DIRECTIONS).default('neutral'),
      )
      .option('--conviction <number>', 'how sure you are, from 0 to 10', parseConviction, 0)
      .option('--source <text>', 'where the opinion comes from', SOURCE)
      .option('--dedupe-key <key>', 'stores the opinion once, however often it is sent')
      .addHelpText(
        'after',
        examples(
          'svc signal "BTC up" --direction bullish --conviction 7',
          'svc signal add --file note.txt --symbols ETH,SOL --direction bearish --conviction 4',
        ),
      )
      .action(task((bench, words: readonly string[], options: SignalOptions) => speak(bench, words, options)))
    command
      .command('add')
      .summary('the same, with the text from a file')
      .requiredOption('--file <file>', 'text in UTF-8')
      .action(
        task(async (bench, { file }: { readonly file: string }, add: Command) =>
          say(bench, await readTextFile(file, FILE_BYTES_MAX), add.optsWithGlobals()),
        ),
      )
    return command
  },
}

/** More than the longest text takes in any script. */
const FILE_BYTES_MAX = 128 * 1024

type SignalOptions = Pick<Opinion, 'direction' | 'conviction' | 'source'> & {
  readonly symbols?: readonly string[]
  readonly dedupeKey?: string
}

const speak = (bench: Bench, words: readonly string[], options: SignalOptions): Promise<ExitCode> => {
  if (words.length === 0) throw new UsageError('the text is missing')
  return say(bench, words.join(' '), options)
}

const say = async (bench: Bench, text: string, options: SignalOptions): Promise<ExitCode> => {
  const { universe } = (await openConfiguration(bench.dependencies)).current()
  const { symbols = null, dedupeKey = null } = options
  const drafts = draftsOf({ ...options, text, symbols, dedupeKey }, universe.symbols)
  const said = await withStore(bench.dependencies, async (session) => {
    const engine = await session.openEngine()
    // A node whose identity is not the saved one ends with this process.
    const ephemeral = (await bench.dependencies.identity.describe()).node_id !== engine.nodeId
    await welcomeOperator(engine, ephemeral)
    const events = await submitAll(engine, drafts)
    if (events.some(({ replayed }) => !replayed)) await recordWrite(engine, bench, 'signal')
    return { events, ephemeral }
  })
  return show(bench, said)
}

/** Whoever writes here is a contributor. It may have been removed. */
const welcomeOperator = async (engine: Engine, ephemeral: boolean): Promise<void> => {
  const { nodeId, state } = engine
  if (activeByNode(state.signals.contributors, nodeId) !== null) return
  const publicKey = state.operations.nodes.publicKeys.get(nodeId)
  assert(publicKey !== undefined, 'the log knows the key of every node that writes')
  await execute(engine, { kind: 'welcome-node', node: { nodeId, publicKey, ephemeral } })
}

interface Submitted {
  readonly event_id: string
  readonly contributor_id: string
  readonly symbol: string
  /** Whether it was stored before, under the same key. */
  readonly replayed: boolean
}

const submitAll = async (engine: Engine, drafts: readonly Draft[]): Promise<readonly Submitted[]> => {
  // Asked for at once they are stored at once. Under a key the first shows whether the others may follow.
  if (drafts.every(({ dedupeKey }) => dedupeKey === null)) {
    return Promise.all(drafts.map((draft) => submit(engine, draft)))
  }
  const submitted: Submitted[] = []
  for (const draft of drafts) submitted.push(await submit(engine, draft))
  return submitted
}

const submit = async (engine: Engine, { symbol, ...submission }: Draft): Promise<Submitted> => {
  const outcome = await engine.execute({
    kind: 'submit-signal',
    submission: { ...submission, nodeId: engine.nodeId },
  })
  if (outcome.status === 'refused') throw failureOf(outcome.refusal)
  return { ...viewSubmission(outcome.events), symbol, replayed: outcome.replayed }
}

interface Said {
  readonly events: readonly Submitted[]
  readonly ephemeral: boolean
}

const show = async ({ print }: Bench, { events, ephemeral }: Said): Promise<ExitCode> => {
  const [first] = events
  assert(first !== undefined, 'an opinion is about something')
  const document = {
    status: 'ok',
    event_id: first.event_id,
    symbols: events.map(({ symbol }) => symbol),
    events,
  }
  await print.result(document, (paint) => {
    const stored = table(
      [{ title: 'Symbol' }, { title: 'Signal' }, { title: 'Event' }],
      events.map(({ symbol, replayed, event_id }) => [
        symbol,
        replayed ? quiet('was stored before') : good('stored'),
        event_id,
      ]),
      paint,
    )
    return ephemeral ? `${stored}\n${paint('warning', SHORT_LIVED)}\n` : stored
  })
  return EXIT_OK
}

const SHORT_LIVED =
  'No identity is saved here: the next process is another contributor, and the brain no longer listens to this one. ' +
  'Save one with "svc identity create".'

const parseSymbols = (text: string): readonly string[] => {
  const symbols = text.split(',').map((symbol) => symbol.trim().toUpperCase())
  if (symbols.includes('')) throw new InvalidArgumentError('It must be symbols with commas between them.')
  return [...new Set(symbols)]
}

const parseConviction = (text: string): number => {
  const conviction = /^\d{1,2}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (conviction >= 0 && conviction <= 10) return conviction
  throw new InvalidArgumentError('It must be a number from 0 to 10.')
}
