import type { KeyPath } from './values.ts'

const RESTART_KEYS: ReadonlySet<string> = new Set([
  'api.host',
  'api.port',
  'store.url',
  'store.checkpoint_file',
  'identity.node_prefix',
])

/** Whether a new value of the key counts only after a restart. */
export const needsRestart = (path: KeyPath): boolean =>
  path[0] === 'dashboard' || RESTART_KEYS.has(path.join('.'))
