/** The revision without a handshake: every request says for itself how it wants to be understood. */
export const MODERN_REVISION = '2026-07-28'

/** Revisions that begin with `initialize`, newest first. */
const HANDSHAKE_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

export const SUPPORTED_REVISIONS: readonly string[] = [MODERN_REVISION, ...HANDSHAKE_REVISIONS]

/** What a caller gets that begins with `initialize`: what it asks for, else the newest. */
export const revisionFor = (wanted: unknown): string =>
  HANDSHAKE_REVISIONS.find((revision) => revision === wanted) ?? HANDSHAKE_REVISIONS[0]
