import { describe, expect, it } from 'vitest'
import { staleBy } from './live.ts'

describe('staleBy', () => {
  it('uses the longest prefix that is listed', () => {
    expect(staleBy('system.kill_switch.v1')).toEqual(['brain-status', 'kill-switch', 'live'])
    expect(staleBy('system.audit.v1')).toEqual([])
    expect(staleBy('signal.some.thing.v9')).toEqual(['signals'])
    expect(staleBy('brain.cycle.v1')).toContain('brain-status')
  })

  it('matches whole segments only', () => {
    expect(staleBy('signals.v1')).toEqual([])
    expect(staleBy('')).toEqual([])
  })
})
