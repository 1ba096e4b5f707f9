import { timestampOf } from '../../core/shared/brand.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { configurationHashInput } from '../../core/config/secrets.ts'
import { CATALOGUE, type PayloadOf } from '../../core/events/catalogue.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { viewExplanation, type ExplanationView, type StoredCycle } from '../../core/views/brain.ts'
import { payloadOf } from '../../core/views/log.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { isPlainText } from '../../core/shared/text.ts'
import { sha256Hex } from '../sha256.ts'
import type { Reader } from './trading-records.ts'
import { findIntent } from './trading-records.ts'

export interface ExplanationRequest {
  /** The id of a cycle or of one conviction. */
  readonly id: string
  /** Only this symbol of a cycle. */
  readonly symbol: string | null
}

/** As many as a universe may have. */
const CONVICTIONS_MAX = 1000

/** Why a cycle decided as it did; null if neither a cycle nor a conviction has this id. */
export const explain = async (
  reader: Reader,
  { id, symbol }: ExplanationRequest,
  configuration: Configuration,
): Promise<ExplanationView | null> => {
  const stored = isPlainText(id) ? await storedCycle(reader, id, symbol) : null
  if (stored === null) return null
  const configHash = sha256Hex(configurationHashInput(configuration))
  return viewExplanation(stored, configuration, configHash)
}

const storedCycle = async (
  reader: Reader,
  id: string,
  symbol: string | null,
): Promise<StoredCycle | null> => {
  const single = await reader.log.get(id)
  const records =
    single?.type === CONVICTION ? [single] : await about(reader, id, 'brain.conviction', CONVICTIONS_MAX)
  const convictions = records.flatMap((record) => sound(record, CONVICTION))
  const [first] = convictions
  const cycleId = first?.payload.cycle_id ?? id
  const [cycleRecord] = await about(reader, cycleId, 'brain.cycle', 1)
  const [cycle] = cycleRecord === undefined ? [] : sound(cycleRecord, 'brain.cycle.v1')
  const ts = first?.record.ts ?? cycle?.record.ts
  if (ts === undefined) return null
  const wanted = convictions.filter(
    ({ payload }) => symbol === null || canonicalSymbol(payload.symbol) === canonicalSymbol(symbol),
  )
  return {
    cycleId,
    ts: timestampOf(ts),
    cycle: cycle?.payload ?? null,
    convictions: wanted.map(({ record, payload }) => ({ id: record.id, payload })),
    intents: await intentsOf(reader, cycleId),
  }
}

const CONVICTION = 'brain.conviction.v1'

const about = (reader: Reader, id: string, type: string, limit: number): Promise<readonly LogRecord[]> =>
  reader.log.read({ about: id, types: [type], order: 'asc', limit })

/** A damaged event is left out; verification reports it. */
const sound = <Type extends typeof CONVICTION | 'brain.cycle.v1' | 'execution.trade_intent.v1'>(
  record: LogRecord,
  type: Type,
): readonly { readonly record: LogRecord; readonly payload: PayloadOf<Type> }[] => {
  if (record.type !== type) return []
  const parsed = CATALOGUE[type].safeParse(payloadOf(record))
  return parsed.success ? [{ record, payload: parsed.data as PayloadOf<Type> }] : []
}

type ExplainedIntent = StoredCycle['intents'] extends ReadonlyMap<string, infer Intent> ? Intent : never

const intentsOf = async (reader: Reader, cycleId: string): Promise<StoredCycle['intents']> => {
  const records = await about(reader, cycleId, 'execution.trade_intent', CONVICTIONS_MAX)
  const intents = new Map<string, ExplainedIntent>()
  for (const { record, payload } of records.flatMap((one) => sound(one, 'execution.trade_intent.v1'))) {
    const known = await findIntent(reader, record.id)
    intents.set(payload.conviction_id, {
      intent_id: record.id,
      direction: payload.direction,
      size_pct: payload.size_pct,
      status: known?.status ?? payload.status,
      reasons: [...(known?.reasons ?? [])],
    })
  }
  return intents
}
