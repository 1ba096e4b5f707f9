import type { Ed25519 } from './ed25519-backend.ts'
import { nodeEd25519 } from './ed25519-node.ts'
import { loadSodiumEd25519 } from './ed25519-sodium.ts'

/**
 * Both give the same bytes. Where libsodium loads, it signs: on x64 twice as fast as Node; on arm64 an eighth slower, but into
 * memory that is there, while each signature of Node is one more thing to collect, and collecting holds the loop.
 */
const signing = (await loadSodiumEd25519()) ?? nodeEd25519

/** On arm64 Node verifies faster by a quarter, on x64 libsodium does. */
const { verify } = process.arch === 'x64' ? signing : nodeEd25519

export const ed25519: Ed25519 = { ...signing, verify }
