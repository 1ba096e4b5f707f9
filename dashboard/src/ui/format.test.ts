import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMember,
  formatMicroUsd,
  formatNumber,
  formatPercent,
  formatPrice,
  formatQuantity,
  formatReason,
  formatUsd,
  shortId,
  textOf,
} from './format.ts'

describe('numbers', () => {
  it('read with a unit, grouped, and with a real minus', () => {
    expect(formatUsd(1234.5)).toBe('$1,234.50')
    expect(formatUsd(-0.5)).toBe('−$0.50')
    expect(formatUsd(2, { plus: true })).toBe('+$2.00')
    expect(formatPercent(-0.0312)).toBe('−3.12 %')
    expect(formatPercent(0.5, { digits: 0, plus: true })).toBe('+50 %')
  })

  it('have no sign when they read as nothing', () => {
    expect(formatUsd(-0.001, { plus: true })).toBe('$0.00')
    expect(formatPercent(-0.000_001)).toBe('0.00 %')
    expect(formatPercent(0.000_001, { plus: true })).toBe('0.00 %')
  })

  it('have as many decimals as a price needs', () => {
    expect([97_000, 154.6743, 0.000_012_34].map(formatPrice)).toEqual(['97,000.00', '154.6743', '0.00001234'])
    expect([154.6, 0.5, 0].map(formatPrice)).toEqual(['154.6000', '0.500000', '0.00'])
    expect([1e9, 1e-5, 9.88e-6, 1.5e-9, -2e-9].map(formatPrice)).toEqual([
      '1,000,000,000.00',
      '0.00001000',
      '0.00000988',
      '0.000000001500',
      '−0.000000002000',
    ])
  })

  it('are never nothing when there is something', () => {
    expect([1e-9, 0.1 + 0.2, 12.345, 1e9].map(formatQuantity)).toEqual([
      '0.000000001',
      '0.3',
      '12.345',
      '1,000,000,000',
    ])
    expect(formatMember('fill_price', 1e-9)).toBe('fill price 0.000000001000')
    expect(formatMember('fill_size', 0.000_000_5)).toBe('fill size 0.0000005')
    expect(formatMember('funding_rate', 0.000_031)).toBe('funding rate 0.000031')
    expect(formatMember('base_rate', 1 / 3)).toBe('base rate 0.3333')
  })

  it('are shares wherever the name says so, also where they are tiny', () => {
    expect(formatMember('karma_percentage', 0.005)).toBe('karma 0.50 %')
    expect(formatReason('daily_loss_pct=3.2e-2 of max_drawdown_pct=1e-7')).toBe(
      'daily loss 3.20 % of max drawdown 0.00 %',
    )
  })

  it('know no negative zero', () => {
    for (const format of [formatPrice, formatQuantity, formatCount, formatNumber, formatMicroUsd, formatUsd])
      expect(format(-0)).toBe(format(0))
    expect(formatMicroUsd(-1.5)).toBe('−$1.50')
  })
})

describe('sizes and times', () => {
  it('read in the unit that fits', () => {
    expect([0, 1023, 1024, 1_572_864].map(formatBytes)).toEqual(['0 B', '1023 B', '1.0 kB', '1.5 MB'])
    expect([40, 999.6, 90_000, 3_600_000, 90_000_000].map(formatDuration)).toEqual([
      '40 ms',
      '1 s',
      '1 min 30 s',
      '1 h',
      '1 d 1 h',
    ])
  })
})

describe('text', () => {
  it('is short where the whole is on hover', () => {
    expect(shortId('019c7874-0f70-7c3e-9a51-2f6f0c1b7a10')).toBe('019c7874…7a10')
    expect(shortId('short')).toBe('short')
  })

  it('of a payload is only what is text', () => {
    expect([textOf('a'), textOf(1), textOf({}), textOf(null, '–')]).toEqual(['a', '1', '', '–'])
  })
})
