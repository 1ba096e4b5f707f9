import type { Snapshot } from '../../../ports/event-log.ts'
import type { Ask } from './ask.ts'

// They are large and only ever a shortcut. Releases may take turns on one log, so each has its own.
const KEPT_PER_VERSION = 2
const VERSIONS_KEPT = 4

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
  await ask({ name: 'drop-snapshots', text: DROP_OLD, values: [KEPT_PER_VERSION, VERSIONS_KEPT] })
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
SET chain_hash = excluded.chain_hash, state_hash = excluded.state_hash, state = excluded.state, saved = DEFAULT`

const DROP_OLD = `
DELETE FROM snapshots
WHERE seq NOT IN (SELECT seq FROM snapshots AS same WHERE same.state_version = snapshots.state_version
                  ORDER BY seq DESC LIMIT $1)
   OR state_version NOT IN (SELECT state_version FROM snapshots GROUP BY state_version
                            ORDER BY max(saved) DESC LIMIT $2)`

const LOAD = `
SELECT snapshots.seq, snapshots.chain_hash, state_hash, state
FROM snapshots JOIN events ON events.seq = snapshots.seq AND events.hash = snapshots.chain_hash
WHERE state_version = $1 ORDER BY snapshots.seq DESC LIMIT 1`
