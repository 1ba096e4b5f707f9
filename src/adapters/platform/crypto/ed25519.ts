import type { Ed25519 } from './ed25519-backend.ts'
import { nodeEd25519 } from './ed25519-node.ts'
import { loadSodiumEd25519 } from './ed25519-sodium.ts'

/** libsodium signs and verifies about twice as fast, with the same bytes; where it does not load, Node signs. */
export const ed25519: Ed25519 = (await loadSodiumEd25519()) ?? nodeEd25519
