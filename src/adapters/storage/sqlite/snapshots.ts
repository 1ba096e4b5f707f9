import type { Snapshot } from '../../../ports/event-log.ts'
import { allRows, firstRow, prepare, prepareRows, type Database, type Statement } from './database.ts'

/** A part of the text of a snapshot. The last one makes the parts a whole. */
export interface SnapshotPart {
  readonly stateVersion: string
  readonly seq: number
  readonly part: number
  readonly text: string
  readonly whole: Pick<Snapshot, 'chainHash' | 'stateHash' | 'signature' | 'signer'> | null
}

/** Parts are stored one by one, so that an append waits for one of them at most, not for the whole state. */
export function* partsOf(snapshot: Snapshot): Generator<SnapshotPart> {
  const { stateVersion, seq, chainHash, stateHash, state, signature, signer } = snapshot
  for (let part = 0, from = 0; ; part += 1) {
    const to = endOfPart(state, from)
    const whole = to === state.length ? { chainHash, stateHash, signature, signer } : null
    yield { stateVersion, seq, part, text: state.slice(from, to), whole }
    if (whole !== null) return
    from = to
  }
}

/** Keeps the newest snapshots: they are large and only ever a cache. Parts count once the last one is there. */
export class SnapshotWriter {
  readonly #db: Database
  readonly #putPart: Statement
  readonly #put: Statement
  readonly #drops: readonly Statement[]
  readonly #dropParts: Statement

  constructor(db: Database) {
    this.#db = db
    this.#putPart = prepare(db, 'INSERT OR REPLACE INTO snapshot_parts VALUES (?, ?, ?, ?)')
    this.#put = prepare(db, 'INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)')
    this.#drops = [
      `DELETE FROM snapshots WHERE seq NOT IN
         (SELECT seq FROM snapshots AS same
          WHERE same.state_version = snapshots.state_version AND same.signer = snapshots.signer
          ORDER BY seq DESC LIMIT ${KEPT_PER_SIGNER})`,
      `DELETE FROM snapshots WHERE signer NOT IN
         (SELECT signer FROM snapshots AS same WHERE same.state_version = snapshots.state_version
          GROUP BY signer ORDER BY max(rowid) DESC LIMIT ${SIGNERS_KEPT})`,
      `DELETE FROM snapshots WHERE state_version NOT IN
         (SELECT state_version FROM snapshots GROUP BY state_version ORDER BY max(rowid) DESC LIMIT ${VERSIONS_KEPT})`,
    ].map((sql) => prepare(db, sql))
    // A few at a time, so that an append does not wait long: of snapshots that were dropped or never finished.
    this.#dropParts = prepare(
      db,
      `DELETE FROM snapshot_parts WHERE rowid IN
         (SELECT rowid FROM snapshot_parts AS parts
          WHERE (state_version, seq) <> (?, ?) AND NOT EXISTS
            (SELECT 1 FROM snapshots
             WHERE snapshots.state_version = parts.state_version AND snapshots.seq = parts.seq)
          LIMIT ${PARTS_DROPPED_AT_ONCE})`,
    )
  }

  save({ stateVersion, seq, part, text, whole }: SnapshotPart): null {
    this.#db.exec('BEGIN IMMEDIATE')
    this.#putPart.run(stateVersion, seq, part, text)
    this.#dropParts.run(stateVersion, seq)
    if (whole !== null) {
      const { chainHash, stateHash, signature, signer } = whole
      this.#put.run(stateVersion, seq, chainHash, stateHash, part + 1, signature, signer)
      for (const drop of this.#drops) drop.run()
    }
    this.#db.exec('COMMIT')
    return null
  }
}

/** The newest snapshot of this version, of this signer or of any, that belongs to the chain as it is. */
export const prepareLoadSnapshot = (
  db: Database,
): ((stateVersion: string, signer?: string) => Snapshot | null) => {
  const load = prepareRows(
    db,
    `SELECT snapshots.seq, chain_hash, state_hash, parts, snapshots.signature, snapshots.signer FROM snapshots
       JOIN events ON events.seq = snapshots.seq AND events.hash = snapshots.chain_hash
       WHERE state_version = ?1 AND (?2 IS NULL OR snapshots.signer = ?2) ORDER BY snapshots.seq DESC LIMIT 1`,
  )
  const loadParts = prepareRows(
    db,
    'SELECT text FROM snapshot_parts WHERE state_version = ? AND seq = ? AND part < ? ORDER BY part',
  )
  return (stateVersion, wanted) => {
    const row = firstRow(load, stateVersion, wanted ?? null)
    if (row === undefined) return null
    const [seq, chainHash, stateHash, count, signature, signer] = row as SnapshotRow
    const parts = allRows(loadParts, stateVersion, seq, count)
    // Another process that stored a snapshot meanwhile may have dropped parts of an unfinished one.
    if (parts.length !== count) return null
    return { seq, chainHash, stateVersion, stateHash, state: parts.flat().join(''), signature, signer }
  }
}

type SnapshotRow = readonly [number, string, string, number, string, string]

const KEPT_PER_SIGNER = 2
/**
 * A node starts from its own snapshots only. Identities that end with their process leave a snapshot that is never
 * used.
 */
const SIGNERS_KEPT = 16
/** For releases that take turns on one log, and for the way back after an upgrade. */
const VERSIONS_KEPT = 4
/** More than are stored meanwhile. */
const PARTS_DROPPED_AT_ONCE = 2
/** About a millisecond of work. */
const PART_CHARACTERS = 65_536

/** Half a surrogate pair has no UTF-8. */
const endOfPart = (text: string, from: number): number => {
  const to = Math.min(text.length, from + PART_CHARACTERS)
  const last = text.charCodeAt(to - 1)
  return to < text.length && last >= 0xd800 && last < 0xdc00 ? to - 1 : to
}
