import type { Engine } from '../engine.ts'
import { asKnown, type KnownEvent } from '../../core/events/catalogue.ts'
import { stampedFrom, type LogRecord } from '../../core/log/event.ts'
import { symbolRef } from '../../core/log/refs.ts'
import { intentId, orderId, positionId } from '../../core/shared/brand.ts'
import type { Refusal } from '../../core/shared/decision.ts'
import { isPlainText } from '../../core/shared/text.ts'
import { evolvePortfolio } from '../../core/trading/positions/portfolio.ts'
import { INITIAL_PORTFOLIO } from '../../core/trading/positions/book.ts'
import { evolveIntents, INITIAL_INTENTS, type Intent } from '../../core/trading/orders/intents.ts'
import { evolveOrders, INITIAL_ORDERS, type Order } from '../../core/trading/orders/orders.ts'
import type { Position } from '../../core/trading/positions/positions.ts'
import { payloadOf } from '../../core/log/payload.ts'
import type { State } from '../../core/state.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Outcome } from '../plan.ts'
import { readPages } from '../read-pages.ts'

/** Parts of the engine that a query needs: the log and its fold. */
export type Reader = Pick<Engine, 'log' | 'fresh'>

/** Like `Reader`, for lookups of single records. Also implemented by a log of the past. */
export interface RecordReader {
  readonly log: Pick<EventLog, 'read' | 'get'>
  fresh(): Promise<State>
}

type Records = RecordReader['log']

// Memory keeps the newest ended positions, orders and intents. Older ones are rebuilt from their own events in the log.

/** Returns null if no position has this id. */
export const findPosition = async (reader: RecordReader, id: string): Promise<Position | null> =>
  (await reader.fresh()).trading.positions.get(positionId(id)) ?? positionInLog(reader.log, id)

/** Returns null if no intent has this id. */
export const findIntent = async (reader: RecordReader, id: string): Promise<Intent | null> =>
  (await reader.fresh()).trading.intents.get(intentId(id)) ?? intentInLog(reader.log, id)

/** Outcome of a command about one of these records, with its refusal corrected by `knownRefusal`. */
export const withLogChecked = async (log: Records, outcome: Outcome): Promise<Outcome> =>
  outcome.status === 'refused'
    ? { status: 'refused', refusal: await knownRefusal(log, outcome.refusal) }
    : outcome

/** Commands only know the records in memory. A record that only the log holds is refused as ended, not as unknown. */
export const knownRefusal = async (log: Records, refusal: Refusal): Promise<Refusal> => {
  const { extras } = refusal
  const record = ENDED_RECORDS.find(({ kind }) => refusal.code === `${kind}.not_found`)
  if (record === undefined) return refusal
  const { kind, code, detail, inLog } = record
  const id = extras[`${kind}_id`]
  const status = (await inLog(log, typeof id === 'string' ? id : ''))?.status
  if (status === undefined) return refusal
  return { code, detail: `${detail} ${status}`, extras: { ...extras, [`${kind}_status`]: status } }
}

const positionInLog = async (log: Records, id: string): Promise<Position | null> => {
  const events = await executionsAbout(log, id)
  const position = positionAfter(events, id)
  const end = events.findLast(({ type }) => type === 'execution.position_closed.v1')
  if (position === null || end === undefined) return position
  // Its last mark comes from a bar, which names the symbol but not the position.
  const bar = await lastBar(log, position.terms.asset, end.seq)
  return bar === null ? position : positionAfter([...events, bar], id)
}

const positionAfter = (events: readonly KnownEvent[], id: string): Position | null =>
  events
    .toSorted((one, other) => one.seq - other.seq)
    .reduce(evolvePortfolio, INITIAL_PORTFOLIO)
    .positions.get(positionId(id)) ?? null

const BARS_EXAMINED = 100

const lastBar = async (log: Records, symbol: string, before: number): Promise<KnownEvent | null> => {
  const about = symbolRef(symbol)
  const records = await log.read({
    about,
    types: ['market.bar'],
    before,
    order: 'desc',
    limit: BARS_EXAMINED,
  })
  return records.flatMap(readable).find(isLiveBar) ?? null
}

const isLiveBar = (event: KnownEvent): boolean => event.type === 'market.bar.v1' && !event.payload.backfill

const orderInLog = async (log: Records, id: string): Promise<Order | null> => {
  const { open, ended } = (await executionsAbout(log, id)).reduce(evolveOrders, INITIAL_ORDERS)
  return open.get(orderId(id)) ?? ended.get(orderId(id)) ?? null
}

/** The id of an intent is that of its event, so the index contains only the events that followed. */
const intentInLog = async (log: Records, id: string): Promise<Intent | null> => {
  const first = isPlainText(id) ? await log.get(id) : null
  if (first?.type !== 'execution.trade_intent.v1') return null
  const later = (await executionsAbout(log, id)).filter(({ seq }) => seq > first.seq)
  return [...readable(first), ...later].reduce(evolveIntents, INITIAL_INTENTS).get(intentId(id)) ?? null
}

const ENDED_RECORDS = [
  { kind: 'position', code: 'position.not_open', detail: 'the position is', inLog: positionInLog },
  { kind: 'order', code: 'order.not_open', detail: 'the order is', inLog: orderInLog },
  {
    kind: 'intent',
    code: 'intent.not_awaiting',
    detail: 'the intent does not wait for approval: it is',
    inLog: intentInLog,
  },
] as const

const PAGE_EVENTS = 500
const EVENTS_MAX = 10_000

/** Reads only events that the engine writes, because signals may name any id. */
const executionsAbout = async (log: Records, about: string): Promise<readonly KnownEvent[]> => {
  if (!isPlainText(about)) return []
  const events: KnownEvent[] = []
  let examined = 0
  const query = { about, types: ['execution'], after: 0, order: 'asc', limit: PAGE_EVENTS } as const
  for await (const page of readPages(log, query)) {
    events.push(...page.flatMap(readable))
    examined += page.length
    if (examined >= EVENTS_MAX) break
  }
  return events
}

/** Leaves damaged events out. Verification reports them. */
const readable = (record: LogRecord): readonly KnownEvent[] => {
  const known = payloadOf(record) === null ? null : asKnown(stampedFrom(record))
  return known === null ? [] : [known]
}
