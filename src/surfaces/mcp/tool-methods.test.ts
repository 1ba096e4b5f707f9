import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/shared/json.ts'
import { TOOLS } from '../../core/views/capabilities.ts'
import { toolList } from './tool-methods.ts'

const entryOf = (name: string): JsonObject => toolList().find((entry) => entry['name'] === name) ?? {}
const textOf = (name: string, schema: 'inputSchema' | 'outputSchema'): string =>
  JSON.stringify(entryOf(name)[schema])

describe('the list of tools', () => {
  it.each([
    ['get_brain_status', { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ['emit_producer_signal', { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ['close_position', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
  ])('says what a client may assume of %s', (name, hints) => {
    expect(entryOf(name)['annotations']).toEqual({ ...hints, openWorldHint: false })
  })

  it('describes each tool by its purpose, then by its advice if it has some', () => {
    const shown = new Map(TOOLS.map(({ name }) => [name, entryOf(name)['description'] as string]))
    const unadvised = TOOLS.filter(({ name, description }) => {
      expect(shown.get(name)?.startsWith(description), name).toBe(true)
      return shown.get(name) === description
    })
    expect(unadvised.map(({ name }) => name)).toEqual([
      'get_brain_status',
      'get_open_positions',
      'emit_producer_signal',
      'svc_provenance_check',
      'get_portfolio',
      'get_orders',
      'get_treasury',
      'get_symbols',
      'get_prices',
    ])
  })

  it('states the bounds of what is taken, and not those that every double has', () => {
    expect(textOf('get_backtest', 'inputSchema')).toMatch(/"minimum":0,"maximum":20\b/)
    expect(textOf('get_recent_signals', 'inputSchema')).toMatch(/"minimum":1\b/)
    expect(JSON.stringify(toolList())).not.toContain(String(Number.MAX_SAFE_INTEGER))
  })

  it.each([
    ['explain_author', ['author_not_found']],
    ['get_signal_attribution', ['signal_not_found']],
    ['get_backtest', ['backtest_not_found']],
    ['run_sweep', ['backtest_refused', 'queue_full', 'scope_missing', 'author_mismatch']],
    ['close_position', ['position_not_found', 'position_not_open']],
    ['cancel_order', ['order_not_found', 'order_not_open']],
    ['approve_intent', ['intent_not_found', 'intent_not_awaiting', 'kill_switch_active']],
    ['deny_intent', ['intent_not_found', 'intent_not_awaiting']],
    ['set_kill_switch', ['confirmation_stale', 'confirmation_expired', 'confirmation_used']],
  ])('names the errors of %s', (name, errors) => {
    for (const error of errors) expect(textOf(name, 'outputSchema')).toContain(`"${error}"`)
  })
})
