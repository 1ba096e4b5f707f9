import { firstRow, isSqliteError, prepareRows, type Database, type Statement } from './database.ts'

/** Tells when events were stored: at once for our own, and by a cheap look at the file for those of others. */
export class Watcher {
  readonly #version: Statement
  readonly #headSeq: Statement
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | null = null
  #seenVersion: unknown
  #seenSeq: unknown

  constructor(db: Database) {
    this.#version = prepareRows(db, 'PRAGMA data_version')
    this.#headSeq = prepareRows(db, 'SELECT max(seq) FROM events')
  }

  watch(onAppended: () => void): () => void {
    // Wrapped, so that one function may watch twice and stop once.
    const listener = (): void => onAppended()
    this.#listeners.add(listener)
    this.#startLooking()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.close()
    }
  }

  tell(): void {
    for (const listener of this.#listeners) listener()
  }

  close(): void {
    this.#listeners.clear()
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #startLooking(): void {
    if (this.#timer !== null) return
    this.#hasNews()
    this.#timer = setInterval(() => {
      if (this.#hasNews()) this.tell()
    }, LOOK_EVERY_MS)
    this.#timer.unref()
  }

  #hasNews(): boolean {
    const seq = this.#seenSeq
    try {
      const version = firstRow(this.#version)?.[0]
      if (version === this.#seenVersion) return false
      this.#seenVersion = version
      this.#seenSeq = firstRow(this.#headSeq)?.[0]
    } catch (error) {
      if (!isSqliteError(error)) throw error
      // Whoever is told will read, and hear of the trouble there. Once is enough.
      this.#seenVersion = undefined
      this.#seenSeq = 'unreadable'
    }
    return seq !== this.#seenSeq
  }
}

const LOOK_EVERY_MS = 25
