import type { Ed25519 } from './ed25519-backend.ts'
import { nodeEd25519 } from './ed25519-node.ts'
import { loadSodiumEd25519 } from './ed25519-sodium.ts'

/**
 * Both give the same bytes. On x64 libsodium signs and verifies about twice as fast as Node, where it loads; on arm64 Node
 * is the faster one: by a tenth when it signs, by a quarter when it verifies.
 */
export const ed25519: Ed25519 = (process.arch === 'x64' ? await loadSodiumEd25519() : null) ?? nodeEd25519
