import { Map as PersistentMap } from 'immutable'
import { CATALOGUE, type EventType, type PayloadOf } from '../events/catalogue.ts'
import type { LogRecord } from '../log/event.ts'
import { payloadOf } from '../log/payload.ts'

/**
 * Keys whose signatures the log accepts. A log is open until the first saved identity starts on it: identities that end
 * with their process cannot vouch for each other. After that, a new key is accepted only if an accepted key has
 * admitted it.
 */
export interface Keys {
  /** Public keys (64 hex digits) by node id. Retired keys stay, so that their old signatures remain valid. */
  readonly publicKeys: PersistentMap<string, string>
  /** Node ids of retired keys. */
  readonly retired: readonly string[]
  readonly isClosed: boolean
}

export const NO_KEYS: Keys = { publicKeys: PersistentMap(), retired: [], isClosed: false }

/** An event that changes the accepted keys. */
export type KeyEvent = {
  [Type in KeyEventType]: { readonly type: Type; readonly payload: PayloadOf<Type> }
}[KeyEventType]

type KeyEventType = (typeof KEY_EVENTS)[number]

const KEY_EVENTS = [
  'system.started.v1',
  'system.key_admitted.v1',
  'system.key_retired.v1',
] as const satisfies readonly EventType[]

/** The fold of the events of a batch whose signature was checked. */
export const evolveKeys = (keys: Keys, { type, payload }: KeyEvent): Keys => {
  const { node_id: nodeId, public_key: publicKey } = payload
  if (!isNamedByKey(nodeId, publicKey)) return keys
  switch (type) {
    case 'system.started.v1':
      if (keys.isClosed && !isAccepted(keys, nodeId)) return keys
      return { ...withKey(keys, nodeId, publicKey), isClosed: keys.isClosed || !payload.ephemeral }
    case 'system.key_admitted.v1':
      return withKey(keys, nodeId, publicKey)
    case 'system.key_retired.v1':
      return isAccepted(keys, nodeId) ? { ...keys, retired: [...keys.retired, nodeId] } : keys
  }
}

/** Key that checks later signatures of this node; undefined if its signatures are not accepted. */
export const acceptedKey = (keys: Keys, nodeId: string): string | undefined =>
  keys.retired.includes(nodeId) ? undefined : keys.publicKeys.get(nodeId)

export const isAccepted = (keys: Keys, nodeId: string): boolean => acceptedKey(keys, nodeId) !== undefined

/** Key that checks the signature of a batch. On an open log a process introduces itself and needs no admission. */
export const keyOfBatch = (
  keys: Keys,
  signer: string,
  records: readonly Pick<LogRecord, 'type' | 'payload'>[],
): string | undefined => {
  const known = acceptedKey(keys, signer)
  if (known !== undefined || keys.isClosed) return known
  for (const record of records) {
    const event = keyEventIn(record)
    if (event?.type === 'system.started.v1' && event.payload.node_id === signer)
      return event.payload.public_key
  }
  return undefined
}

/** Null for all other events, and for damaged ones. */
export const keyEventIn = ({ type, payload }: Pick<LogRecord, 'type' | 'payload'>): KeyEvent | null => {
  const known = KEY_EVENTS.find((name) => name === type)
  if (known === undefined) return null
  const parsed = CATALOGUE[known].safeParse(payloadOf({ payload }))
  // The type and the schema of its payload belong together, which the compiler cannot follow through a variable.
  return parsed.success ? ({ type: known, payload: parsed.data } as KeyEvent) : null
}

/** A node id ends with the start of its key, so another key cannot use a name that is taken. */
export const isNamedByKey = (nodeId: string, publicKey: string): boolean =>
  PUBLIC_KEY.test(publicKey) && nodeId.endsWith(`-${publicKey.slice(0, KEY_DIGITS_IN_NODE_ID)}`)

const PUBLIC_KEY = /^[0-9a-f]{64}$/
const KEY_DIGITS_IN_NODE_ID = 16

const withKey = (keys: Keys, nodeId: string, publicKey: string): Keys => ({
  ...keys,
  publicKeys: keys.publicKeys.set(nodeId, publicKey),
  retired: keys.retired.filter((retired) => retired !== nodeId),
})
