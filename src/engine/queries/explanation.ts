import { timestampOf } from '../../core/shared/brand.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { configurationHash } from '../../core/config/secrets.ts'
import {
  explainedSizing,
  viewExplanation,
  type ExplanationView,
  type StoredCycle,
} from '../../core/views/brain.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { isPlainText } from '../../core/shared/text.ts'
import type { CycleInputs } from '../../core/brain/cycle.ts'
import { cycleInputsOf } from '../../core/brain/run-cycle.ts'
import { stampedFrom } from '../../core/log/event.ts'
import { configDigitsOf, parseCommands } from '../../core/stored-commands.ts'
import { RecordedSettings } from '../audit/configurations.ts'
import { QueueFullError } from '../command-queue.ts'
import { batchAround } from '../integrity/trust.ts'
import type { PastStates } from '../past-states.ts'
import { sha256Hex } from '../sha256.ts'
import { oldestAbout, type SoundEvent, soundEvents } from './sound-events.ts'
import { findIntent, type Reader } from './trading-records.ts'

export interface ExplanationRequest {
  /** Id of a cycle or of one conviction. */
  readonly id: string
  /** Limits the explanation of a cycle to this symbol. */
  readonly symbol: string | null
}

/** Largest number of convictions in a cycle: the limit of symbols in a universe. */
const CONVICTIONS_MAX = 1000

/** Reads the log and folds it up to a cycle. */
type ExplanationReader = Reader & { readonly past: PastStates }

/**
 * Why a cycle decided as it did; null if neither a cycle nor a conviction has this id. `configuration` replaces the
 * settings of the cycle if the log does not hold them.
 */
export const explain = async (
  reader: ExplanationReader,
  { id, symbol }: ExplanationRequest,
  configuration: Configuration,
): Promise<ExplanationView | null> => {
  const stored = isPlainText(id) ? await storedCycle(reader, id, symbol) : null
  if (stored === null) return null
  const { event, ...cycle } = stored
  const configHash = configurationHash(configuration, sha256Hex)
  const rules = event === null ? configuration : await settingsAt(reader, event, configuration)
  const inputs = event === null ? null : await inputsOf(reader, event, rules)
  return viewExplanation({ ...cycle, inputs }, rules, configHash)
}

type CycleEvent = SoundEvent<'brain.cycle.v1'>

/** Settings of the cycle. */
const settingsAt = async (
  { log }: Reader,
  { seq, payload }: CycleEvent,
  configuration: Configuration,
): Promise<Configuration> => {
  const settings = new RecordedSettings(configuration)
  await settings.readUpTo(log, seq)
  return settings.withDigits(configDigitsOf(payload.config_hash)).configuration
}

/** Inputs of the cycle, from its stored command and the state before it; null if the command is not stored. */
const inputsOf = async (
  { log, past }: ExplanationReader,
  { seq, payload }: CycleEvent,
  configuration: Configuration,
): Promise<CycleInputs | null> => {
  const batch = await batchAround(log, seq)
  const text = batch.at(-1)?.commands ?? null
  const stored = text === null ? null : parseCommands(text, batch.map(stampedFrom))
  const request = stored?.requests.find(
    ({ command }) => command?.kind === 'run-cycle' && command.cycleId === payload.cycle_id,
  )
  const [first] = request?.events ?? []
  if (stored === null || request?.command?.kind !== 'run-cycle' || first === undefined) return null
  const before = await past.at({ kind: 'seq', seq: first.seq - 1 }, Infinity)
  if (before.status === 'busy') throw new QueueFullError()
  if (before.status === 'out-of-range') return null
  const now = stored.inputs.now ?? first.recordedAt
  return cycleInputsOf(before.past.state, { now, configuration }, request.command.asOf)
}

interface FoundCycle extends Omit<StoredCycle, 'inputs'> {
  readonly event: CycleEvent | null
}

const storedCycle = async (reader: Reader, id: string, symbol: string | null): Promise<FoundCycle | null> => {
  const { log } = reader
  const single = await log.get(id)
  const convictions =
    single?.type === CONVICTION
      ? soundEvents(single, CONVICTION)
      : await oldestAbout(log, id, CONVICTION, CONVICTIONS_MAX)
  const [first] = convictions
  const cycleId = first?.payload.cycle_id ?? id
  const [cycle] = await oldestAbout(log, cycleId, 'brain.cycle.v1', 1)
  const ts = first?.ts ?? cycle?.ts
  if (ts === undefined) return null
  return {
    cycleId,
    ts: timestampOf(ts),
    event: cycle ?? null,
    cycle: cycle?.payload ?? null,
    convictions: convictions.filter(
      ({ payload }) => symbol === null || canonicalSymbol(payload.symbol) === canonicalSymbol(symbol),
    ),
    intents: await intentsOf(reader, cycleId),
  }
}

const CONVICTION = 'brain.conviction.v1'

const intentsOf = async (reader: Reader, cycleId: string): Promise<StoredCycle['intents']> => {
  const intents = await oldestAbout(reader.log, cycleId, 'execution.trade_intent.v1', CONVICTIONS_MAX)
  const explained = intents.map(async ({ id, payload }) => {
    const known = await findIntent(reader, id)
    const { conviction_id, direction, size_pct } = payload
    const status = known?.status ?? payload.status
    const reasons = [...(known?.reasons ?? [])]
    const sizing = await sizingOf(reader, id)
    return [conviction_id, { intent_id: id, direction, size_pct, status, reasons, sizing }] as const
  })
  return new Map(await Promise.all(explained))
}

type ExplainedIntent = NonNullable<ExplanationView['convictions'][number]['intent']>

/** Number of examined events about an order: an approval may precede the order, and fills follow it. */
const EVENTS_EXAMINED = 20

/** Null also for an order of an earlier release. */
const sizingOf = async ({ log }: Reader, id: string): Promise<ExplainedIntent['sizing']> => {
  const [sent] = await oldestAbout(log, id, 'execution.order_submitted.v1', EVENTS_EXAMINED)
  if (sent !== undefined) {
    const { sizing, limits, size_notional } = sent.payload
    return sizing === undefined ? null : { ...sizing, limits, size_usd: size_notional }
  }
  const [failed] = await oldestAbout(log, id, 'execution.order_failed.v1', EVENTS_EXAMINED)
  const { sizing, limits } = failed?.payload.details ?? {}
  const parsed = explainedSizing.safeParse({ ...Object(sizing), limits, size_usd: null })
  return parsed.success ? parsed.data : null
}
