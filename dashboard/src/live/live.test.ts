import { describe, expect, it } from 'vitest'
import { staleBy } from './live.ts'

describe('staleBy', () => {
  it('goes by the longest beginning that is known', () => {
    expect(staleBy('system.kill_switch.v1')).toEqual(['brain-status', 'kill-switch'])
    expect(staleBy('system.audit.v1')).toEqual([])
    expect(staleBy('signal.some.thing.v9')).toEqual(['signals'])
    expect(staleBy('brain.cycle.v1')).toContain('brain-status')
  })

  it('knows nothing of words that only begin alike', () => {
    expect(staleBy('signals.v1')).toEqual([])
    expect(staleBy('')).toEqual([])
  })
})
