import type { Json, JsonObject } from '../shared/json.ts'

/** Members that name one thing an event is about, and members that list several. */
const ID_MEMBERS = [
  'signal_id',
  'contributor_id',
  'position_id',
  'order_id',
  'intent_id',
  'conviction_id',
  'cycle_id',
  'session_id',
  'call_id',
  'receipt_id',
] as const
const ID_LIST_MEMBERS = ['signal_ids', 'intent_ids'] as const
const SYMBOL_MEMBERS = ['symbol', 'asset'] as const

/** How many things one event may be about; a cycle over a large universe lists its inputs in convictions. */
export const REFS_MAX = 10_000

export const symbolRef = (symbol: string): string => `symbol:${symbol.trim().toUpperCase()}`
export const traceRef = (traceId: string): string => `trace:${traceId}`
export const sourceRef = (source: string): string => `source:${source}`

/** Which ids an event is about. A pure function of the event, so the index can always be rebuilt. */
export const refsOf = (event: {
  readonly type: string
  readonly source: string | null
  readonly traceId: string | null
  readonly payload: JsonObject
}): readonly string[] => {
  const refs = new Set<string>()
  const { payload } = event
  for (const member of ID_MEMBERS) addText(refs, payload[member])
  for (const member of ID_LIST_MEMBERS) {
    const list = payload[member]
    if (Array.isArray(list)) for (const item of list as readonly Json[]) addText(refs, item)
  }
  for (const member of SYMBOL_MEMBERS) {
    const symbol = payload[member]
    if (typeof symbol === 'string' && symbol.trim() !== '') refs.add(symbolRef(symbol))
  }
  if (event.traceId !== null) refs.add(traceRef(event.traceId))
  // Only signals have an author worth an index; every other source is one of a few fixed words.
  if (event.source !== null && event.type.startsWith('signal.')) refs.add(sourceRef(event.source))
  return [...refs].slice(0, REFS_MAX)
}

/**
 * Like `refsOf`, from the canonical text of a payload, for an index. Parsing the whole payload costs several times as
 * much. May return a ref twice, and refs of nested members, so readers check `refsOf` again.
 */
export const refsInText = (event: {
  readonly type: string
  readonly source: string | null
  readonly traceId: string | null
  readonly payload: string
}): readonly string[] => {
  const { type, source, traceId, payload } = event
  const refs: string[] = []
  NAMING_MEMBER.lastIndex = 0
  for (let found = NAMING_MEMBER.exec(payload); found !== null; found = NAMING_MEMBER.exec(payload)) {
    const [, member = '', text = '', end] = found
    // Lists and escaped texts are rare.
    if (end !== '"') return refsOf({ type, source, traceId, payload: JSON.parse(payload) as JsonObject })
    if (text === '') continue
    refs.push(member === 'symbol' || member === 'asset' ? symbolRef(text) : text)
  }
  if (traceId !== null) refs.push(traceRef(traceId))
  if (source !== null && type.startsWith('signal.')) refs.push(sourceRef(source))
  return refs
}

const NAMING_MEMBER = new RegExp(
  `"(?:(${[...ID_MEMBERS, ...SYMBOL_MEMBERS].join('|')})":"([^"\\\\]*)(["\\\\])|(?:${ID_LIST_MEMBERS.join('|')})":\\[)`,
  'g',
)

/**
 * A ref as a number of at most 53 bits, for a small index. Different refs may share a number:
 * readers check `refsOf` again. Time-ordered ids keep their order, so new entries land on the same pages.
 */
export const refKey = (ref: string): number => {
  if (UUID.test(ref)) return Number.parseInt(ref.slice(0, 8) + ref.slice(9, 13) + ref.slice(15, 16), 16)
  let high = 0x811c9dc5
  let low = 0x01000193
  for (let index = 0; index < ref.length; index += 1) {
    const unit = ref.charCodeAt(index)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low + unit, 0x85ebca6b) ^ (low >>> 13)
  }
  return (high >>> 0) * 0x200000 + ((low >>> 0) & 0x1fffff)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const addText = (refs: Set<string>, value: Json | undefined): void => {
  if (typeof value === 'string' && value !== '') refs.add(value)
}
