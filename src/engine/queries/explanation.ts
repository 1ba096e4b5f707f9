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
import { sha256Hex } from '../sha256.ts'
import { oldestAbout, soundEvents } from './sound-events.ts'
import { findIntent, type Reader } from './trading-records.ts'

export interface ExplanationRequest {
  /** Id of a cycle or of one conviction. */
  readonly id: string
  /** Limits the explanation of a cycle to this symbol. */
  readonly symbol: string | null
}

/** Largest number of convictions in a cycle: the limit of symbols in a universe. */
const CONVICTIONS_MAX = 1000

/** Why a cycle decided as it did; null if neither a cycle nor a conviction has this id. */
export const explain = async (
  reader: Reader,
  { id, symbol }: ExplanationRequest,
  configuration: Configuration,
): Promise<ExplanationView | null> => {
  const stored = isPlainText(id) ? await storedCycle(reader, id, symbol) : null
  if (stored === null) return null
  const configHash = configurationHash(configuration, sha256Hex)
  return viewExplanation(stored, configuration, configHash)
}

const storedCycle = async (
  reader: Reader,
  id: string,
  symbol: string | null,
): Promise<StoredCycle | null> => {
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
