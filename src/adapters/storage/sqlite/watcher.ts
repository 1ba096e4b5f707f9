import { firstRow, isSqliteError, prepareRows, type Database, type Statement } from './database.ts'
import { HEAD_SEQ } from './schema.ts'

/** Notifies of new events: at once of our own, and by polling the file of those of other processes. */
export class Watcher {
  readonly #version: Statement
  readonly #headSeq: Statement
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | null = null
  #seenVersion: unknown
  #seenSeq: unknown

  constructor(db: Database) {
    this.#version = prepareRows(db, 'PRAGMA data_version')
    this.#headSeq = prepareRows(db, HEAD_SEQ)
  }

  watch(onAppended: () => void): () => void {
    // Wrapped, so that one function may watch twice and stop once.
    const listener = (): void => onAppended()
    this.#listeners.add(listener)
    this.#startPolling()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.close()
    }
  }

  notify(): void {
    for (const listener of this.#listeners) listener()
  }

  close(): void {
    this.#listeners.clear()
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #startPolling(): void {
    if (this.#timer !== null) return
    this.#hasMoved()
    this.#timer = setInterval(() => {
      if (this.#hasMoved()) this.notify()
    }, POLL_EVERY_MS)
    this.#timer.unref()
  }

  #hasMoved(): boolean {
    const seq = this.#seenSeq
    try {
      const version = firstRow(this.#version)?.[0]
      if (version === this.#seenVersion) return false
      this.#seenVersion = version
      this.#seenSeq = firstRow(this.#headSeq)?.[0]
    } catch (error) {
      if (!isSqliteError(error)) throw error
      // The subscriber reads next and gets the error there.
      this.#seenVersion = undefined
      this.#seenSeq = 'unreadable'
    }
    return seq !== this.#seenSeq
  }
}

const POLL_EVERY_MS = 25
