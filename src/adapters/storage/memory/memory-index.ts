import { domainOf, type LogRecord, stampedFrom } from '../../../core/log/event.ts'
import { refsOf } from '../../../core/log/refs.ts'

/** Finds records without walking the log. Catches up when it is asked, so an append costs nothing here. */
export class MemoryIndex {
  readonly #records: readonly LogRecord[]
  readonly #byId = new Map<string, LogRecord>()
  readonly #byDedupeKey = new Map<string, LogRecord>()
  readonly #byDomain = new Map<string, LogRecord[]>()
  readonly #byRef = new Map<string, LogRecord[]>()
  #indexed = 0
  #referred = 0

  constructor(records: readonly LogRecord[]) {
    this.#records = records
  }

  withId(id: string): LogRecord | null {
    this.#catchUp()
    return this.#byId.get(id) ?? null
  }

  withDedupeKey(key: string): LogRecord | null {
    this.#catchUp()
    return this.#byDedupeKey.get(key) ?? null
  }

  domains(): ReadonlyMap<string, readonly LogRecord[]> {
    this.#catchUp()
    return this.#byDomain
  }

  /** Payloads are parsed only for reads by `about`. */
  about(ref: string): readonly LogRecord[] {
    for (; this.#referred < this.#records.length; this.#referred += 1) {
      const record = this.#records[this.#referred]
      if (record !== undefined) for (const name of refsIn(record)) push(this.#byRef, name, record)
    }
    return this.#byRef.get(ref) ?? []
  }

  #catchUp(): void {
    for (; this.#indexed < this.#records.length; this.#indexed += 1) {
      const record = this.#records[this.#indexed]
      if (record === undefined) continue
      this.#byId.set(record.id, record)
      if (record.dedupeKey !== null) this.#byDedupeKey.set(record.dedupeKey, record)
      push(this.#byDomain, domainOf(record.type), record)
    }
  }
}

const push = (lists: Map<string, LogRecord[]>, name: string, record: LogRecord): void => {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [record])
  else list.push(record)
}

/** A damaged payload is reported by verification; until then it is about nothing. */
const refsIn = (record: LogRecord): readonly string[] => {
  try {
    return refsOf(stampedFrom(record))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return []
    throw error
  }
}
