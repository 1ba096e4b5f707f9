import type { Snapshot } from '../../../ports/event-log.ts'
import type { Ask } from './reader.ts'

const SNAPSHOTS_KEPT = 3

export const saveSnapshot = async (ask: Ask, snapshot: Snapshot): Promise<void> => {
  await ask({
    name: 'save-snapshot',
    text: SAVE,
    values: [
      snapshot.stateVersion,
      snapshot.seq,
      Buffer.from(snapshot.chainHash, 'hex'),
      snapshot.stateHash,
      snapshot.state,
    ],
  })
  await ask({ name: 'drop-snapshots', text: DROP_OLD, values: [SNAPSHOTS_KEPT] })
}

export const loadSnapshot = async (ask: Ask, stateVersion: string): Promise<Snapshot | null> => {
  const [row] = await ask<[number, string, string, string]>({
    name: 'load-snapshot',
    text: LOAD,
    values: [stateVersion],
  })
  if (row === undefined) return null
  const [seq, chainHash, stateHash, state] = row
  return { seq, chainHash, stateVersion, stateHash, state }
}

const SAVE = `
INSERT INTO snapshots (state_version, seq, chain_hash, state_hash, state) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (state_version, seq) DO UPDATE
SET chain_hash = excluded.chain_hash, state_hash = excluded.state_hash, state = excluded.state`

// Per version: after an update, an older release may have to start from its own snapshot again.
const DROP_OLD = `
DELETE FROM snapshots WHERE (state_version, seq) IN (
  SELECT state_version, seq FROM (
    SELECT state_version, seq, row_number() OVER (PARTITION BY state_version ORDER BY seq DESC) AS age FROM snapshots
  ) AS aged WHERE age > $1
)`

const LOAD = `
SELECT snapshots.seq, snapshots.chain_hash, state_hash, state
FROM snapshots JOIN events ON events.seq = snapshots.seq AND events.hash = snapshots.chain_hash
WHERE state_version = $1 ORDER BY snapshots.seq DESC LIMIT 1`
