import type { Snapshot } from '../../../ports/event-log.ts'
import { allRows, prepare, firstRow, prepareRows, type Database, type Statement } from './database.ts'

/** A part of the text of a snapshot. The last one brings what makes the parts a whole. */
export interface SnapshotPiece {
  readonly stateVersion: string
  readonly seq: number
  readonly part: number
  readonly text: string
  readonly whole: Pick<Snapshot, 'chainHash' | 'stateHash'> | null
}

export const SNAPSHOT_PARTS_TABLE = `
CREATE TABLE IF NOT EXISTS snapshot_parts (
  state_version TEXT,
  seq INTEGER,
  part INTEGER,
  text TEXT NOT NULL,
  PRIMARY KEY (state_version, seq, part)
) STRICT;`

/** Stored one by one, so that an event never waits for more than one of them. */
export function* piecesOf(snapshot: Snapshot): Generator<SnapshotPiece> {
  const { stateVersion, seq, chainHash, stateHash, state } = snapshot
  for (let part = 0, from = 0; ; part += 1) {
    const to = endOfPart(state, from)
    const whole = to === state.length ? { chainHash, stateHash } : null
    yield { stateVersion, seq, part, text: state.slice(from, to), whole }
    if (whole !== null) return
    from = to
  }
}

/**
 * Keeps the newest snapshots. They are large and only ever a shortcut: a few are enough. Parts count for nothing until
 * the last one is there; those that belong to no snapshot are dropped a few at a time.
 */
export class SnapshotShelf {
  readonly #putPart: Statement
  readonly #dropForgotten: Statement
  readonly #dropBehind: Statement
  readonly #put: Statement
  readonly #dropOlder: Statement
  readonly #dropOtherVersions: Statement

  constructor(db: Database) {
    this.#putPart = prepare(db, 'INSERT OR REPLACE INTO snapshot_parts VALUES (?, ?, ?, ?)')
    this.#dropForgotten = prepare(
      db,
      `DELETE FROM snapshot_parts WHERE rowid IN
         (SELECT rowid FROM snapshot_parts AS parts
            WHERE (state_version, seq) <> (?, ?) AND NOT EXISTS
              (SELECT 1 FROM snapshots
                 WHERE snapshots.state_version = parts.state_version AND snapshots.seq = parts.seq)
            LIMIT ${DROPPED_AT_ONCE})`,
    )
    this.#dropBehind = prepare(
      db,
      'DELETE FROM snapshot_parts WHERE state_version = ? AND seq = ? AND part > ?',
    )
    // Another process that keeps one at the same time may have taken our parts for forgotten ones.
    this.#put = prepare(
      db,
      `INSERT OR REPLACE INTO snapshots SELECT ?, ?, unhex(?), ?, ''
         WHERE (SELECT count(*) FROM snapshot_parts WHERE state_version = ? AND seq = ?) = ?`,
    )
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

  put({ stateVersion, seq, part, text, whole }: SnapshotPiece): void {
    this.#putPart.run(stateVersion, seq, part, text)
    this.#dropForgotten.run(stateVersion, seq)
    if (whole === null) return
    this.#dropBehind.run(stateVersion, seq, part)
    this.#put.run(stateVersion, seq, whole.chainHash, whole.stateHash, stateVersion, seq, part + 1)
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
  const loadParts: Statement = prepareRows(
    db,
    'SELECT text FROM snapshot_parts WHERE state_version = ? AND seq = ? ORDER BY part',
  )
  return (stateVersion) => {
    const row = firstRow(load, stateVersion) as [number, string, string, string] | undefined
    if (row === undefined) return null
    const [seq, chainHash, stateHash, whole] = row
    // Earlier releases stored the text in one.
    const state = whole === '' ? allRows(loadParts, stateVersion, seq).flat().join('') : whole
    return { seq, chainHash, stateVersion, stateHash, state }
  }
}

const KEPT_PER_VERSION = 2
/** Of releases that take turns on one log, and of the one before an upgrade. */
const VERSIONS_KEPT = 4
/** More than are stored meanwhile. */
const DROPPED_AT_ONCE = 2
/** About a millisecond's work. */
const PART_CHARACTERS = 65_536

/** Half a surrogate pair has no UTF-8. */
const endOfPart = (text: string, from: number): number => {
  const to = Math.min(text.length, from + PART_CHARACTERS)
  const last = text.charCodeAt(to - 1)
  return to < text.length && last >= 0xd800 && last < 0xdc00 ? to - 1 : to
}
