import { allRows, firstRow, prepareRows, type Database, type Statement } from './database.ts'

export type DictionaryKind = 'domain' | 'node'

/** Names as the reading side knows them. Names are never taken back, so only new ones have to be read. */
export class KnownNames {
  readonly #newer: Statement
  readonly #nodes = new Map<number, string>()
  readonly #domains = new Map<string, number>()
  #lastId = 0

  constructor(db: Database) {
    this.#newer = prepareRows(db, 'SELECT id, kind, name FROM dict WHERE id > ? ORDER BY id')
  }

  /** Every domain that occurs, with its number. */
  domains(): ReadonlyMap<string, number> {
    this.#refresh()
    return this.#domains
  }

  nodeName = (id: number): string => {
    if (!this.#nodes.has(id)) this.#refresh()
    const name = this.#nodes.get(id)
    // Somebody changed the table: verification tells where, reading goes on.
    return name ?? `node-${id}`
  }

  #refresh(): void {
    for (const [id, kind, name] of allRows(this.#newer, this.#lastId) as [number, DictionaryKind, string][]) {
      if (kind === 'domain') this.#domains.set(name, id)
      else this.#nodes.set(id, name)
      this.#lastId = id
    }
  }
}

/** Numbers for names on the writing side. Only asked inside a write transaction, so no two get the same. */
export class NameNumbers {
  readonly #kind: DictionaryKind
  readonly #find: Statement
  readonly #add: Statement
  readonly #numbers = new Map<string, number>()

  constructor(db: Database, kind: DictionaryKind) {
    this.#kind = kind
    this.#find = prepareRows(db, 'SELECT id FROM dict WHERE kind = ? AND name = ?')
    this.#add = prepareRows(db, 'INSERT INTO dict (kind, name) VALUES (?, ?) RETURNING id')
  }

  numberOf(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const row = firstRow(this.#find, this.#kind, name) ?? firstRow(this.#add, this.#kind, name)
    const number = row?.[0]
    if (typeof number !== 'number') throw new Error(`the dictionary has no number for ${name}`)
    this.#numbers.set(name, number)
    return number
  }

  /** After a rollback: numbers that were given inside it are not. */
  forget(): void {
    this.#numbers.clear()
  }
}
