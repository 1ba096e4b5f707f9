import type { LogRecord } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import { isNamedByKey } from '../../core/operations/keys.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'

/** Public keys (64 hex digits) by node id. */
export type SignerKeys = ReadonlyMap<string, string>

export interface SignerKey {
  readonly nodeId: string
  /** 64 hex digits. */
  readonly publicKey: string
}

/** The key that this event introduces, or null. The first event of every process carries its key. */
export const keyIn = (record: Pick<LogRecord, 'type' | 'payload'>): SignerKey | null => {
  if (record.type !== STARTED) return null
  const { node_id: nodeId, public_key: publicKey } = payloadOf(record) ?? {}
  if (typeof nodeId !== 'string' || typeof publicKey !== 'string') return null
  return isNamedByKey(nodeId, publicKey) ? { nodeId, publicKey } : null
}

/**
 * Keys of these nodes, as far as the log contains them. Searches the newest introductions first, which are needed most
 * often.
 */
export const findKeys = async (
  log: Pick<EventLog, 'read'>,
  nodeIds: Iterable<string>,
): Promise<SignerKeys> => {
  const wanted = new Set(nodeIds)
  const found = new Map<string, string>()
  if (wanted.size === 0) return found
  for await (const { nodeId, publicKey } of introductionsIn(log)) {
    if (wanted.delete(nodeId)) found.set(nodeId, publicKey)
    if (wanted.size === 0) break
  }
  return found
}

/** The seq of the newest event that introduces this key, or null while the log does not know it. */
export const introducedAt = async (
  log: Pick<EventLog, 'read'>,
  { nodeId, publicKey }: SignerKey,
): Promise<number | null> => {
  for await (const introduction of introductionsIn(log)) {
    if (introduction.nodeId === nodeId) return introduction.publicKey === publicKey ? introduction.seq : null
  }
  return null
}

async function* introductionsIn(
  log: Pick<EventLog, 'read'>,
): AsyncGenerator<SignerKey & { readonly seq: number }> {
  for await (const page of readPages(log, { types: [STARTED_DOMAIN], order: 'desc', limit: PAGE_SIZE })) {
    for (const record of page) {
      const key = keyIn(record)
      if (key !== null) yield { ...key, seq: record.seq }
    }
  }
}

const STARTED = 'system.started.v1'
const STARTED_DOMAIN = 'system.started'
const PAGE_SIZE = 100
