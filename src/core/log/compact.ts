import type { Json, JsonObject } from '../shared/json.ts'
import type { Stamped } from './event.ts'

/*
 * The commands of a batch are stored beside its events, and much of a command is already in the events that it led to:
 * the payload of a submission, the prices of a bar, a signature. `compacted` replaces these parts with references, and
 * `expanded` puts them back. For the first of two events with the payload {"symbol":"BTC","conviction":7}:
 *
 *     {"kind":"submit-signal","submission":{"ts":null,"payload":{"symbol":"BTC","conviction":7}}}
 *     {"kind":"submit-signal","submission":{"ts":null,"payload":{"@":0}}}
 *
 * An object {"@":i,"@-":[names],...members} is the payload of event i without these names, with these members added or
 * replaced. A text "@i.name" is a member of the payload of event i, and "@i:name" a field of the event. Texts and names
 * that begin with "@" themselves get another "@". Values that JSON lacks are texts too: "@n12" is the bigint 12, "@#NaN"
 * the number NaN, "@u" undefined in a list.
 */

/** The parts of an event that a reference can point to. */
export type Referred = Pick<Stamped, 'id' | 'type' | 'ts' | 'source' | 'traceId' | 'dedupeKey' | 'payload'>

/** Plain data as JSON, with references to these events instead of what they hold already. */
export const compacted = (value: unknown, events: readonly Referred[]): Json =>
  new Compaction(events).jsonOf(value)

/** The inverse of `compacted`, for the same events. Throws for text that `compacted` does not write. */
export const expanded = (json: Json, events: readonly Referred[]): unknown => {
  if (typeof json === 'string') return json.startsWith(MARK) ? textOrReference(json, events) : json
  if (typeof json !== 'object' || json === null) return json
  if (isList(json)) return json.map((item) => expanded(item, events))
  const { [MARK]: base, [LEFT_OUT]: leftOut, ...rest } = json
  const members = Object.entries(rest).map(([name, member]) => [
    name.startsWith(MARK) ? name.slice(1) : name,
    expanded(member, events),
  ])
  if (base === undefined) return Object.fromEntries(members)
  const without = new Set(leftOut === undefined ? [] : (leftOut as readonly string[]))
  const kept = Object.entries(eventAt(events, Number(base)).payload).filter(([name]) => !without.has(name))
  return Object.fromEntries([...kept, ...members])
}

const MARK = '@'
const LEFT_OUT = '@-'

/** Shorter texts take as much space as a reference. */
const TEXT_LENGTH_MIN = 12

/** Limit of events whose texts are referred to. The texts of a batch with more are written out. */
const TEXT_EVENTS_MAX = 256

/** Limit of events that an object is compared with. Events follow in the order of the parts of their command. */
const CANDIDATES_MAX = 8

const FIELDS = ['id', 'type', 'ts', 'source', 'traceId', 'dedupeKey'] as const

class Compaction {
  readonly #events: readonly Referred[]
  #references: ReadonlyMap<string, string> | null = null
  /** Index of the event that the latest object refers to, where the next comparison starts. */
  #latest = 0

  constructor(events: readonly Referred[]) {
    this.#events = events
  }

  jsonOf(value: unknown): Json {
    switch (typeof value) {
      case 'string':
        return this.#textOf(value)
      case 'number':
        return isJsonNumber(value) ? value : `@#${Object.is(value, -0) ? '-0' : value}`
      case 'bigint':
        return `@n${value}`
      case 'boolean':
        return value
      case 'undefined':
        return '@u'
      case 'object':
        if (value === null) return null
        if (isList(value)) return value.map((item) => this.jsonOf(item))
        return this.#objectOf(value)
      default:
        throw new Error(`a command cannot hold a ${typeof value}`)
    }
  }

  #textOf(text: string): Json {
    if (text.length >= TEXT_LENGTH_MIN) {
      const reference = this.#referencesOfTexts().get(text)
      if (reference !== undefined && reference.length < text.length) return reference
    }
    return text.startsWith(MARK) ? MARK + text : text
  }

  #referencesOfTexts(): ReadonlyMap<string, string> {
    if (this.#references !== null) return this.#references
    const found = new Map<string, string>()
    const add = (text: unknown, reference: string): void => {
      if (typeof text === 'string' && text.length >= TEXT_LENGTH_MIN && !found.has(text))
        found.set(text, reference)
    }
    for (const [index, event] of this.#events.slice(0, TEXT_EVENTS_MAX).entries()) {
      for (const name of FIELDS) add(event[name], `@${index}:${name}`)
      for (const name of Object.keys(event.payload)) add(event.payload[name], `@${index}.${name}`)
    }
    this.#references = found
    return found
  }

  #objectOf(value: object): Json {
    if (!isPlain(value)) throw new Error('a command holds plain data only')
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    const based = this.#basedOn(members)
    if (based !== null) return based
    return Object.fromEntries(members.map(([name, member]) => [nameOf(name), this.jsonOf(member)]))
  }

  /** The object as a change of the most similar payload, or null if no payload makes it shorter. */
  #basedOn(members: readonly (readonly [string, unknown])[]): Json | null {
    let best: Difference | null = null
    let bestIndex = 0
    for (let step = 0; step < CANDIDATES_MAX && step < this.#events.length; step += 1) {
      const index = (this.#latest + step) % this.#events.length
      const difference = differenceOf(members, eventAt(this.#events, index).payload)
      if (difference.saved <= (best?.saved ?? 0)) continue
      best = difference
      bestIndex = index
      if (best.changed.length === 0 && best.leftOut.length === 0) break
    }
    if (best === null) return null
    this.#latest = bestIndex
    const { leftOut, changed } = best
    return {
      [MARK]: bestIndex,
      ...(leftOut.length === 0 ? {} : { [LEFT_OUT]: leftOut }),
      ...Object.fromEntries(changed.map(([name, member]) => [nameOf(name), this.jsonOf(member)])),
    }
  }
}

interface Difference {
  readonly leftOut: readonly string[]
  readonly changed: readonly (readonly [string, unknown])[]
  /** About the number of characters that the reference saves. */
  readonly saved: number
}

const differenceOf = (members: readonly (readonly [string, unknown])[], payload: JsonObject): Difference => {
  const changed: (readonly [string, unknown])[] = []
  const seen = new Set<string>()
  let saved = -COST_OF_REFERENCE
  for (const member of members) {
    const [name, value] = member
    seen.add(name)
    if (Object.hasOwn(payload, name) && isSame(payload[name], value))
      saved += name.length + COST_OF_MEMBER + lengthOf(value)
    else changed.push(member)
  }
  const leftOut = Object.keys(payload).filter((name) => !seen.has(name))
  for (const name of leftOut) saved -= name.length + COST_OF_MEMBER
  return { leftOut, changed, saved }
}

/** Characters of `"@":0,"@-":[]` and of the punctuation of a member. */
const COST_OF_REFERENCE = 13
const COST_OF_MEMBER = 4

/** Characters of a value. A long text counts like the reference that replaces it anyway. */
const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return Math.min(value.length, TEXT_LENGTH_MIN)
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : String(value).length
}

/** Whether a stored payload gives back this value when it is read again. */
const isSame = (stored: Json | undefined, value: unknown): boolean => {
  if (typeof value === 'number') return stored === value && isJsonNumber(value)
  if (typeof value !== 'object' || value === null) return stored === value && value !== undefined
  if (typeof stored !== 'object' || stored === null) return false
  if (!isPlain(value) && !isList(value)) return false
  if (Array.isArray(value) || isList(stored))
    return (
      Array.isArray(value) &&
      isList(stored) &&
      value.length === stored.length &&
      stored.every((item, index) => isSame(item, value[index]))
    )
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return (
    members.length === Object.keys(stored).length &&
    members.every(([name, member]) => Object.hasOwn(stored, name) && isSame(stored[name], member))
  )
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const isJsonNumber = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0)

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value)

const nameOf = (name: string): string => (name.startsWith(MARK) ? MARK + name : name)

const textOrReference = (text: string, events: readonly Referred[]): unknown => {
  if (text.startsWith('@@')) return text.slice(1)
  if (text === '@u') return undefined
  if (text.startsWith('@n')) return BigInt(text.slice(2))
  if (text.startsWith('@#')) return Number(text.slice(2))
  const [, index, kind, name] = REFERENCE.exec(text) ?? []
  if (name === undefined) throw new Error(`${text} is no reference`)
  const event = eventAt(events, Number(index))
  const found = kind === ':' ? FIELDS.find((field) => field === name) : undefined
  const value = kind === ':' ? found && event[found] : event.payload[name]
  if (typeof value !== 'string') throw new Error(`${text} refers to no text`)
  return value
}

const REFERENCE = /^@(\d+)([.:])([^]*)$/

const eventAt = (events: readonly Referred[], index: number): Referred => {
  const event = events[index]
  if (event === undefined) throw new Error(`a command refers to event ${index} of ${events.length}`)
  return event
}
