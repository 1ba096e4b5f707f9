import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Sessions that were ended by a sign-out before they expired. The browser holds the session, so the server has to
 * remember which ones no longer count; the file keeps that over a restart, and shares it between processes.
 */
export class EndedSessions {
  readonly #file: string
  #ended: ReadonlyMap<string, number> = new Map()
  #readVersion = ''

  constructor(file: string) {
    this.#file = file
  }

  has(id: string): boolean {
    return this.#current().has(id)
  }

  /** Stored before it returns; what has expired meanwhile is forgotten. */
  add(id: string, expiresAtMs: number, nowMs: number): void {
    const kept = [...this.#current()].filter(([, expires]) => expires > nowMs)
    const ended = new Map([...kept, [id, expiresAtMs] as const])
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    const draft = `${this.#file}.${process.pid}`
    writeFileSync(draft, [...ended].map(([name, expires]) => `${name} ${expires}\n`).join(''), {
      mode: 0o600,
    })
    renameSync(draft, this.#file)
    this.#ended = ended
    this.#readVersion = this.#version()
  }

  /** Read again only when the file has changed. */
  #current(): ReadonlyMap<string, number> {
    const version = this.#version()
    if (version === this.#readVersion) return this.#ended
    this.#ended = new Map(
      version === '' ? [] : readFileSync(this.#file, 'utf8').split('\n').filter(Boolean).map(entryOf),
    )
    this.#readVersion = version
    return this.#ended
  }

  /** Empty while there is no file. */
  #version(): string {
    const found = statSync(this.#file, { throwIfNoEntry: false })
    return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`
  }
}

const entryOf = (line: string): readonly [string, number] => {
  const [id = '', expires = '0'] = line.split(' ')
  return [id, Number(expires)]
}
