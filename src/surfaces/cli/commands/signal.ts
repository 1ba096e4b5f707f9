import type { Command } from 'commander'
import { z } from 'zod'
import { canonicalJson } from '../../../core/log/canonical-json.ts'
import { CURATOR_TYPE, curatorPayload } from '../../../core/signal-types/curator.ts'
import { DIRECTIONS } from '../../../core/signal-types/declare.ts'
import { assert } from '../../../core/shared/assert.ts'
import { storableObject } from '../../../core/shared/json-object.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { plainText, trimmedText } from '../../../core/shared/text.ts'
import { type Horizon, HORIZONS } from '../../../core/shared/time.ts'
import { activeByNode } from '../../../core/signals/contributors.ts'
import { submissionText } from '../../../core/signals/signed-submissions.ts'
import { submissionKey, type Submission } from '../../../core/signals/signals.ts'
import { payloadOf } from '../../../core/log/payload.ts'
import { viewSubmission } from '../../../core/views/signals.ts'
import type { Engine } from '../../../engine/engine.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import type { Clock } from '../../../ports/clock.ts'
import { numberFrom, parser, readTextFile } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { settingsOf } from '../configuration.ts'
import { failureOf, UsageError } from '../failure.ts'
import { execute, parsedBy, recordAccess } from '../store.ts'
import { good, left, quiet, table } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Stores one signal of this node per symbol: those of --symbols, else those of the universe that the text names, ' +
        'else GLOBAL, which the brain does not use.',
    )
    .argument('[text...]', 'the rationale, up to 20000 characters')
    .option('--symbols <list>', 'such as BTC,ETH', parseSymbols)
    .choice('--direction <direction>', 'expected move', DIRECTIONS, 'neutral')
    .option('--conviction <number>', 'from 0 to 10', numberFrom(0, 10, /^\d{1,2}(\.\d+)?$/), 0)
    .choice('--horizon <length>', 'how far it looks ahead (else as settlement.horizons says)', HORIZONS)
    .option('--source <text>', 'origin of the signal', SOURCE)
    .option('--dedupe-key <key>', 'store the signal once, however often it is sent')
    .examples(
      'svc signal "BTC up" --direction bullish --conviction 7',
      'svc signal add --file note.txt --symbols ETH,SOL --direction bearish',
    )
    .runs((invocation, words: readonly string[], options: SignalOptions) => {
      if (words.length === 0) throw new UsageError('the text is missing')
      return submitText(invocation, words.join(' '), options)
    })
  command
    .command('add')
    .summary('take the text from a file')
    .requiredOption('--file <file>', 'UTF-8 text')
    .runs(async (invocation, { file }: { readonly file: string }, add: Command) =>
      submitText(invocation, await readTextFile(file, FILE_BYTES_MAX), add.optsWithGlobals()),
    )
}

/** More than the UTF-8 size of the longest text. */
const FILE_BYTES_MAX = 128 * 1024

interface SignalOptions {
  /** Default: the symbols that the text names. */
  readonly symbols?: readonly string[]
  readonly direction: (typeof DIRECTIONS)[number]
  readonly conviction: number
  readonly horizon?: Horizon
  readonly source: string
  readonly dedupeKey?: string
}

const submitText = async (invocation: Invocation, text: string, options: SignalOptions): Promise<Answer> => {
  const { universe } = await settingsOf(invocation)
  const drafts = draftsOf(text, options, universe.symbols)
  await using session = await invocation.openStore()
  const engine = await session.openEngine()
  // A node whose identity is not saved exists only as long as this process.
  const ephemeral = (await invocation.identity.describe()).node_id !== engine.nodeId
  await registerOperator(engine, ephemeral)
  const events = await submitAll(engine, drafts, invocation.clock)
  if (events.some(({ replayed }) => !replayed)) await recordAccess(engine, invocation, 'signal')
  const submitted = table(events, [
    left('Symbol', ({ symbol }) => symbol),
    left('Signal', ({ replayed }) => (replayed ? quiet('already stored') : good('stored'))),
    left('Event', ({ event_id }) => event_id),
  ])
  const symbols = events.map(({ symbol }) => symbol)
  return {
    document: { status: 'ok', event_id: events[0]?.event_id, symbols, events },
    text: (style) => submitted(style) + (ephemeral ? `\n${style.paint('warning', SHORT_LIVED)}\n` : ''),
  }
}

/** Registers the node of this home as a contributor, unless it was removed. */
const registerOperator = async (engine: Engine, ephemeral: boolean): Promise<void> => {
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
  /** True if the submission was stored before, under the same key. */
  readonly replayed: boolean
}

const submitAll = async (
  engine: Engine,
  drafts: readonly Draft[],
  clock: Clock,
): Promise<readonly Submitted[]> => {
  // Drafts that are submitted together are stored together. With a key, the first one shows whether the others may
  // follow.
  if (drafts.every(({ dedupeKey }) => dedupeKey === null)) {
    return Promise.all(drafts.map((draft) => submit(engine, draft, clock)))
  }
  const submitted: Submitted[] = []
  for (const draft of drafts) submitted.push(await submit(engine, draft, clock))
  return submitted
}

const submit = async (engine: Engine, { symbol, ...submission }: Draft, clock: Clock): Promise<Submitted> => {
  const before = await storedBefore(engine, submission)
  if (before !== null) return { ...before, symbol, replayed: true }
  const signed = signedByNode(engine, { ...submission, nodeId: engine.nodeId }, clock)
  const outcome = await engine.execute({ kind: 'submit-signal', submission: signed })
  if (outcome.status === 'refused') throw failureOf(outcome.refusal)
  return { ...viewSubmission(outcome.events), symbol, replayed: outcome.replayed }
}

/**
 * The event of an earlier, identical submission, or null. A signature covers the time, so the log alone does not
 * recognize a repeated submission of a contributor with a public key.
 */
const storedBefore = async (
  engine: Engine,
  { dedupeKey, source, payload }: Omit<Submission, 'nodeId'>,
): Promise<Pick<Submitted, 'event_id' | 'contributor_id'> | null> => {
  const contributor = activeByNode(engine.state.signals.contributors, engine.nodeId)
  if (dedupeKey === null || contributor === null || contributor.publicKey === null) return null
  const key = submissionKey(contributor.id, dedupeKey)
  const record = (await engine.log.findByDedupeKeys([key])).get(key)
  const stored = record === undefined ? null : await engine.log.get(record.id)
  if (stored === null || stored.source !== (source ?? engine.nodeId)) return null
  const isSame = canonicalJson(payloadOf(stored) ?? {}) === canonicalJson(payload)
  return isSame ? { event_id: stored.id, contributor_id: contributor.id } : null
}

/** Signs as the node of this home, if it is registered with a public key. A submission with another key is refused. */
const signedByNode = (engine: Engine, submission: Submission, clock: Clock): Submission => {
  const contributor = activeByNode(engine.state.signals.contributors, engine.nodeId)
  if (contributor === null || contributor.publicKey === null) return submission
  const ts = submission.ts ?? isoNow(clock)
  const dedupeKey = submission.dedupeKey ?? clock.newId()
  const { nodeId, eventType, payload } = submission
  const source = submission.source ?? nodeId
  const fields = { contributorId: contributor.id, nodeId, eventType, ts, source, dedupeKey, payload }
  return { ...submission, ts, dedupeKey, signature: engine.sign(submissionText(fields)) }
}

const SHORT_LIVED =
  'No identity is saved in this home, so this signal belongs to a node that ends with this command, and the brain ' +
  'will not use it. Save one with "svc identity create".'

const parseSymbols = parser((text) => {
  const symbols = text.split(',').map((symbol) => symbol.trim().toUpperCase())
  return symbols.includes('') ? null : [...new Set(symbols)]
}, 'It must be symbols with commas between them.')

/** Symbol for text that names none. The brain ignores it. */
const NO_SYMBOL = 'GLOBAL'

const SYMBOLS_MAX = 100
const PAYLOAD_BYTES_MAX = 64 * 1024
const DEDUPE_KEY_LENGTH_MAX = 200

/** A submission without its author, which is known only when the store is open. */
type Draft = Omit<Submission, 'nodeId'> & { readonly symbol: string }

/** One submission per symbol, validated as on every surface. */
const draftsOf = (text: string, options: SignalOptions, universe: readonly string[]): readonly Draft[] => {
  const { direction, conviction, dedupeKey } = options
  const horizon = options.horizon === undefined ? {} : { horizon: options.horizon }
  const rationale = text.trim()
  if (rationale === '') throw new UsageError('the text is empty')
  const symbols = options.symbols ?? symbolsIn(rationale, universe)
  if (symbols.length > SYMBOLS_MAX)
    throw new UsageError(`at most ${SYMBOLS_MAX} symbols can be named at once`)
  const { source } = parsedBy(sourceSchema, { source: options.source })
  return symbols.map((symbol, index) => ({
    symbol,
    eventType: CURATOR_TYPE,
    ts: null,
    source: source || SOURCE,
    payload: parsedBy(signalPayload, { symbol, direction, conviction, ...horizon, rationale }),
    dedupeKey: dedupeKey === undefined ? null : keyOf(dedupeKey, symbol, index),
  }))
}

/** The default of --source. */
const SOURCE = 'cli.signal'

const sourceSchema = z.object({ source: trimmedText() })
const signalPayload = storableObject({ bytesMax: PAYLOAD_BYTES_MAX, members: curatorPayload })
const keySchema = z.object({ dedupe_key: plainText(DEDUPE_KEY_LENGTH_MAX) })

/**
 * The first submission uses the key unchanged, so that a conflict under the same key is noticed before anything is
 * stored.
 */
const keyOf = (dedupeKey: string, symbol: string, index: number): string =>
  parsedBy(keySchema, { dedupe_key: index === 0 ? dedupeKey : `${dedupeKey}:${symbol}` }).dedupe_key

/**
 * The symbols of the universe that a text names as words, in the order of the universe and in any spelling: `eth`,
 * `$BTC`, `SOLUSDT`.
 */
const symbolsIn = (text: string, universe: readonly string[]): readonly string[] => {
  const known = new Map(universe.map((symbol) => [canonicalSymbol(symbol), symbol]))
  const named = (text.match(WORDS) ?? []).flatMap((word) => known.get(canonicalSymbol(word)) ?? [])
  return named.length === 0 ? [NO_SYMBOL] : [...new Set(named)]
}

const WORDS = /[\p{L}\p{N}]+/gu
