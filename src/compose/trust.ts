import { describeIdentity } from '../adapters/platform/identity/identity-file.ts'
import { logPins } from '../adapters/platform/identity/log-pins.ts'
import { signatures } from '../adapters/platform/signatures/signatures.ts'
import type { SignerKey } from '../engine/integrity/signer-keys.ts'
import type { Trust } from '../engine/integrity/trust.ts'
import type { EventLog } from '../ports/event-log.ts'

/** Facts by which this node verifies the log: its own key, and the pinned hash of the first event. */
export const trustOf = async (home: string, own: SignerKey | null, place: string | null): Promise<Trust> => ({
  signatures,
  own,
  firstHash: own === null || place === null ? null : await logPins(home).read(place),
})

/** The public key of this home's node, which needs no password. Null if it cannot be read. */
export const ownKey = async (home: string): Promise<SignerKey | null> => {
  const { node_id: nodeId, public_key: publicKey } = await describeIdentity(home)
  return nodeId === null || publicKey === null ? null : { nodeId, publicKey }
}

/** Pins the log at this place: this node accepts no other log there from now on. */
export const pinFirst = async (log: EventLog, home: string, place: string): Promise<void> => {
  const [first] = await log.read({ order: 'asc', limit: 1 })
  if (first !== undefined) await logPins(home).write(place, first.hash)
}
