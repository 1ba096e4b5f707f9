import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/shared/json.ts'
import { TOOLS } from '../../core/views/capabilities.ts'
import { toolList } from './tool-methods.ts'

const entryOf = (name: string): JsonObject => toolList().find((entry) => entry['name'] === name) ?? {}
const textOf = (name: string, schema: 'inputSchema' | 'outputSchema'): string =>
  JSON.stringify(entryOf(name)[schema])

/** The arguments of each tool, required ones without a question mark. Clients rely on them. */
const ARGUMENTS = {
  get_brain_status: 'as_of?',
  get_recent_signals: 'limit? domain?',
  get_open_positions: 'as_of?',
  get_signal_attribution: 'signal_id',
  emit_producer_signal: 'producer_id signal_type payload ts? dedupe_key? signature?',
  svc_provenance_check: 'producer_id signal_type?',
  explain_decision: 'id? symbol?',
  explain_author: 'author',
  get_portfolio: 'as_of?',
  get_orders: 'status? limit?',
  get_intents: 'status? limit?',
  get_weights: 'limit? as_of?',
  get_treasury: '',
  get_symbols: '',
  get_prices: '',
  get_bars: 'symbol from? to? limit?',
  get_alerts: '',
  close_position: 'position_id reason? confirm?',
  close_all_positions: 'reason? confirm?',
  cancel_order: 'order_id reason? confirm?',
  approve_intent: 'intent_id note? confirm?',
  deny_intent: 'intent_id note? confirm?',
  set_kill_switch: 'level reason raise_only? confirm?',
  acknowledge_alerts: 'alert_ids confirm?',
  run_backtest: 'strategy? data? recorded? symbol? from? to? seed? reset_daily? parameters? wait_seconds?',
  get_backtest: 'id wait_seconds?',
  run_sweep:
    'strategy? data? recorded? symbol? from? to? seed? reset_daily? set random? halving? walk_forward? folds? embargo? metric? false_discovery_rate? wait_seconds?',
  get_sweep: 'id wait_seconds?',
}

describe('the list of tools', () => {
  it.each([
    ['get_brain_status', { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
    ['emit_producer_signal', { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ['close_position', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
  ])('says what a client may assume of %s', (name, hints) => {
    expect(entryOf(name)['annotations']).toEqual({ ...hints, openWorldHint: false })
  })

  it('names the arguments of each tool, with a question mark where one may be absent', () => {
    const taken = toolList().map(({ name, inputSchema }) => {
      const { properties = {}, required = [] } = inputSchema as {
        readonly properties?: object
        readonly required?: readonly string[]
      }
      const named = Object.keys(properties).map((each) => (required.includes(each) ? each : `${each}?`))
      return [name, named.join(' ')]
    })
    expect(Object.fromEntries(taken)).toEqual(ARGUMENTS)
  })

  it('describes each tool by its purpose, then by its advice if it has some', () => {
    const shown = new Map(toolList().map(({ name, description }) => [name, String(description)]))
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
