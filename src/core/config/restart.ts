import type { KeyPath } from './values.ts'

const RESTART_KEYS: ReadonlySet<string> = new Set([
  'api.host',
  'api.port',
  'store.url',
  'store.checkpoint_file',
  'identity.node_prefix',
  'brain.link.window_seconds',
  'execution.mode',
  'execution.venue',
  'execution.venue_url',
  'ta.bar_seconds',
  'ta.variance_decay',
])

/** Of the market everything belongs to the feed, which is opened once, but these. */
const LIVE_MARKET_KEYS: ReadonlySet<string> = new Set([
  'market.max_mark_age_seconds',
  'market.max_bar_move_pct',
  'market.trusted_price_sources',
])

/** Whether a new value of the key counts only after a restart. */
export const needsRestart = (path: KeyPath): boolean => {
  const key = path.join('.')
  if (path[0] === 'market') return !LIVE_MARKET_KEYS.has(key)
  return path[0] === 'dashboard' || RESTART_KEYS.has(key)
}
