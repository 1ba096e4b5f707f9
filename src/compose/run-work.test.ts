import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { RunRefusedError } from '../backtest/runs/runs.ts'
import { runWork } from './run-work.ts'

describe('the check of a sweep for the service', () => {
  const { check } = runWork({
    home: '/nowhere',
    version: '1.2.3',
    configuration: () => DEFAULT_CONFIGURATION,
  })
  const sweep = (set: readonly string[], more = {}) =>
    check('sweep', { strategy: 'ma_crossover', set, ...more })

  it('refuses more parameter sets than one answer can hold', async () => {
    const set = ['fast=1..101', 'slow=1001..1100']
    await expect(sweep(set)).rejects.toThrow('10100 parameter sets are too many here: at most 10000')
    await expect(sweep(set, { random: 3 })).resolves.toBeUndefined()
  })

  it('refuses a parameter that is set twice', async () => {
    await expect(sweep(['fast=1,2', 'fast=3'])).rejects.toThrow(new RunRefusedError('fast is set twice'))
  })
})
