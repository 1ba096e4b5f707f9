import type { Snapshot } from '../../../ports/event-log.ts'
import { prepare, firstRow, prepareRows, type Database, type Statement } from './database.ts'

/** Keeps the newest snapshots. They are large and only ever a shortcut: a few are enough. */
export class SnapshotShelf {
  readonly #put: Statement
  readonly #dropOlder: Statement
  readonly #dropOtherVersions: Statement

  constructor(db: Database) {
    this.#put = prepare(db, 'INSERT OR REPLACE INTO snapshots VALUES (?, ?, unhex(?), ?, ?)')
    this.#dropOlder = prepare(
      db,
      `DELETE FROM snapshots WHERE state_version = ? AND seq NOT IN
         (SELECT seq FROM snapshots WHERE state_version = ? ORDER BY seq DESC LIMIT ${KEPT_PER_VERSION})`,
    )
    this.#dropOtherVersions = prepare(
      db,
      `DELETE FROM snapshots WHERE state_version NOT IN
         (SELECT state_version FROM snapshots GROUP BY state_version ORDER BY max(rowid) DESC LIMIT ${VERSIONS_KEPT})`,
    )
  }

  put({ stateVersion, seq, chainHash, stateHash, state }: Snapshot): void {
    this.#put.run(stateVersion, seq, chainHash, stateHash, state)
    this.#dropOlder.run(stateVersion, stateVersion)
    this.#dropOtherVersions.run()
  }
}

/** The newest snapshot of this version that the chain as it is still leads to. */
export const prepareLoadSnapshot = (db: Database): ((stateVersion: string) => Snapshot | null) => {
  const load: Statement = prepareRows(
    db,
    `SELECT snapshots.seq, lower(hex(chain_hash)), state_hash, state FROM snapshots
       JOIN events ON events.seq = snapshots.seq AND events.hash = snapshots.chain_hash
       WHERE state_version = ? ORDER BY snapshots.seq DESC LIMIT 1`,
  )
  return (stateVersion) => {
    const row = firstRow(load, stateVersion) as [number, string, string, string] | undefined
    if (row === undefined) return null
    const [seq, chainHash, stateHash, state] = row
    return { seq, chainHash, stateVersion, stateHash, state }
  }
}

const KEPT_PER_VERSION = 2
/** Of releases that take turns on one log, and of the one before an upgrade. */
const VERSIONS_KEPT = 4
