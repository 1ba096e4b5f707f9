import { readTextFile } from '../crypto/private-file.ts'
import { identityPath, parseIdentityFile } from './identity-file.ts'

/** What anyone may know of the saved identity, without the password. */
export interface IdentityDescription {
  readonly present: boolean
  readonly node_id: string | null
  readonly public_key: string | null
  readonly encrypted: boolean | null
  readonly error: string | null
}

export const describeIdentity = async (home: string): Promise<IdentityDescription> => {
  try {
    const text = await readTextFile(identityPath(home))
    if (text === null) return { ...NOTHING_KNOWN, present: false }
    const file = parseIdentityFile(text)
    return {
      present: true,
      node_id: file.node_id,
      public_key: file.public_key,
      encrypted: 'kdf' in file,
      error: null,
    }
  } catch (error) {
    // The fault is part of the description: a report on health must come out whatever state the file is in.
    return { ...NOTHING_KNOWN, error: error instanceof Error ? error.message : String(error) }
  }
}

const NOTHING_KNOWN: IdentityDescription = {
  present: true,
  node_id: null,
  public_key: null,
  encrypted: null,
  error: null,
}
