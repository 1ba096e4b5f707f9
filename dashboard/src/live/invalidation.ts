import type { Resource } from '../api/queries.ts'

/** Which answers an event makes old, by the beginning of its type. The longest beginning decides. */
const STALE_BY: Readonly<Record<string, readonly Resource[]>> = {
  alert: [],
  'attribution.recorded': ['attribution', 'scores', 'provenance'],
  'attribution.resolved': ['attribution', 'scores', 'provenance'],
  'brain.conviction': ['explanation'],
  'brain.cycle': ['brain-status', 'explanation', 'intents', 'attribution', 'scores'],
  'brain.regime_change': ['brain-status', 'regime'],
  contributor: ['contributors', 'scores'],
  execution: ['portfolio', 'equity', 'positions', 'orders', 'intents', 'attribution'],
  karma: ['karma', 'scores'],
  learning: ['learning', 'brain-status', 'producers'],
  'market.bar': ['portfolio', 'positions'],
  producer: ['producers'],
  signal: ['signals'],
  system: [],
  'system.config_changed': ['config', 'portfolio', 'karma'],
  'system.kill_switch': ['brain-status', 'kill-switch'],
  'system.started': ['health', 'config'],
}

export const staleBy = (type: string): readonly Resource[] => {
  const segments = type.split('.')
  for (let count = segments.length; count > 0; count -= 1) {
    const stale = STALE_BY[segments.slice(0, count).join('.')]
    if (stale !== undefined) return stale
  }
  return []
}
