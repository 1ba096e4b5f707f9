import { describe, expect, it } from 'vitest'
import type { Fault } from '../shared/faults.ts'
import { FAULTS_MAX } from '../shared/faults.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { asValues } from './layers.ts'
import { DEFAULT_CONFIGURATION, validateValues } from './validate.ts'
import { mergeValues, withValue } from './values.ts'

const faultsWith = (values: JsonObject): readonly Fault[] => {
  const validation = validateValues(mergeValues(asValues(DEFAULT_CONFIGURATION), values))
  return validation.status === 'valid' ? [] : validation.faults
}

const faultsOf = (key: string, value: Json): readonly Fault[] =>
  faultsWith(withValue({}, key.split('.'), value))

describe('the indexes that decide the regime', () => {
  it('have a default and go from 0 to 100', () => {
    const { regime } = DEFAULT_CONFIGURATION.brain
    expect([regime.bull.rsi_above, regime.bull.fear_greed_above]).toEqual([50, 40])
    for (const key of ['brain.regime.bull.rsi_above', 'brain.regime.bear.rsi_below']) {
      expect([0, 100].flatMap((value) => faultsOf(key, value))).toEqual([])
      expect([-1, 101].flatMap((value) => faultsOf(key, value)).length).toBe(2)
    }
  })
})

describe('defaults', () => {
  it('are those of the contract', () => {
    expect(DEFAULT_CONFIGURATION).toMatchObject({
      preset: 'balanced',
      weights: { curator: 0.25, onchain: 0.25, tradfi: 0.2, social: 0.15, technical: 0.1, events: 0.05 },
      risk: {
        max_leverage: 2,
        max_position_pct: 0.1,
        max_portfolio_heat_pct: 0.06,
        daily_loss_limit_pct: 0.03,
        max_drawdown_pct: 0.3,
      },
      brain: { cycle_interval_seconds: 1800 },
      execution: {
        mode: 'paper',
        paper_start_balance: 10000,
        confirmation_threshold_usd: 500,
        paper_min_days: 14,
        dcg_symbols: [],
        stop_loss_pct: 0.05,
        take_profit_pct: 0.1,
        paper_slippage_bps: 5,
        paper_fee_bps: 6,
      },
      kill_switch: {
        l1_daily_loss_pct: 0.03,
        l2_portfolio_heat_pct: 0.06,
        l3_max_drawdown_pct: 0.3,
        l3_crisis_threshold: 2,
      },
      karma: {
        enabled: true,
        percentage: 0.005,
        settlement_mode: 'manual',
        threshold_usd: 50,
        treasury_address: '',
      },
      universe: { symbols: ['BTC', 'ETH', 'SOL', 'SUI', 'HYPE'], max_size: 100 },
      learning: { window_days: 30, min_positions: 20, max_step: 0.02 },
      signals: { max_future_skew_seconds: 300 },
      producers: { allow_private_endpoints: false, poll_timeout_seconds: 10 },
      market: { feed: 'none', seed: 1, tick_seconds: 5 },
      store: { url: '' },
      identity: { node_prefix: 'svc' },
      api: {
        host: '127.0.0.1',
        port: 5050,
        auth_token: '',
        operator_token: '',
        cors_origins: [],
        rate_limit_per_minute: 0,
      },
      dashboard: { enabled: true, host: '127.0.0.1', port: 5051 },
      stream: { keep_alive_seconds: 15, buffer_events: 1000, max_clients: 10000 },
      trace: { session_ttl_hours: 24 },
      audit: { reads: false },
      metrics: { public: false },
      logging: { level: 'INFO', json_output: false },
    })
  })

  it('cannot be changed by whoever holds them', () => {
    expect(Object.isFrozen(DEFAULT_CONFIGURATION.brain.parts.ta)).toBe(true)
    expect(Object.isFrozen(DEFAULT_CONFIGURATION.universe.symbols)).toBe(true)
  })
})

describe('one key', () => {
  it.each<readonly [string, Json]>([
    ['risk.max_leverage', 100],
    ['risk.max_position_pct', 0],
    ['brain.cycle_interval_seconds', 1],
    ['brain.cycle_interval_seconds', 86400],
    ['execution.mode', 'live'],
    ['execution.dcg_symbols', ['BTC', 'x'.repeat(32)]],
    ['execution.take_profit_pct', 10],
    ['execution.require_approval', true],
    ['kill_switch.l3_crisis_threshold', 3],
    ['karma.treasury_address', 'x'.repeat(128)],
    ['market.seed', 0],
    ['market.tick_seconds', 3600],
    ['store.url', 'postgres://user:pass@db.example:5432/events?sslmode=require'],
    ['store.url', 'postgresql:///events?host=/var/run/postgresql'],
    ['identity.node_prefix', 'a234567890123456'],
    ['api.host', '::1'],
    ['api.port', 0],
    ['api.port', 65535],
    ['api.auth_token', 'x'.repeat(512)],
    [
      'api.cors_origins',
      ['https://a.example', 'http://localhost:5173', 'http://[::1]:8080', 'tauri://localhost'],
    ],
    ['market.sim.assets', { DOGE: { start_price: 0.2 } }],
  ])('%s may be %j', (key, value) => {
    expect(faultsOf(key, value)).toStrictEqual([])
  })

  it.each<readonly [string, Json, string]>([
    ['preset', '', 'string_too_short'],
    ['preset', 5, 'string_type'],
    ['weights.curator', 1.1, 'less_than_equal'],
    ['risk.max_leverage', 0, 'greater_than_equal'],
    ['risk.max_leverage', 101, 'less_than_equal'],
    ['risk.max_position_pct', -0.1, 'greater_than_equal'],
    ['brain.cycle_interval_seconds', 0, 'greater_than_equal'],
    ['brain.cycle_interval_seconds', 1.5, 'int_type'],
    ['brain.cycle_interval_seconds', '60', 'number_type'],
    ['brain.tiers', [60, 75], 'missing'],
    ['brain.tiers', [60, 75, 90, 95], 'too_large'],
    ['execution.mode', 'yolo', 'enum'],
    ['execution.paper_start_balance', 0, 'greater_than_equal'],
    ['execution.paper_start_balance', Infinity, 'number_not_finite'],
    ['execution.dcg_symbols', 'BTC', 'array_type'],
    ['execution.dcg_symbols', {}, 'array_type'],
    ['execution.dcg_symbols', [''], 'string_too_short'],
    ['execution.dcg_symbols', ['  '], 'string_pattern'],
    ['execution.dcg_symbols', ['x'.repeat(33)], 'string_too_long'],
    ['execution.dcg_symbols', Array.from({ length: 1001 }, () => 'X'), 'too_large'],
    ['execution.dcg_symbols', ['\ud800'], 'unicode_invalid'],
    ['execution.require_approval', 'yes', 'boolean_type'],
    ['execution', 5, 'object_type'],
    ['kill_switch.l3_crisis_threshold', 4, 'less_than_equal'],
    ['karma.enabled', 'true', 'boolean_type'],
    ['universe.symbols', [], 'missing'],
    ['store.url', 'mysql://x', 'url_invalid'],
    ['store.url', 'postgres://user:pa/ss@host', 'url_invalid'],
    ['identity.node_prefix', 'Svc', 'string_pattern'],
    ['identity.node_prefix', 'a2345678901234567', 'string_too_long'],
    ['api.port', 65536, 'less_than_equal'],
    ['api.host', 'a b', 'string_pattern'],
    ['api.auth_token', 'two words', 'string_pattern'],
    ['api.auth_token', 'x'.repeat(513), 'string_too_long'],
    ['api.cors_origins', ['*'], 'url_invalid'],
    ['api.cors_origins', ['https://a.example/'], 'url_invalid'],
    ['api.cors_origins', ['https://A.example'], 'url_invalid'],
    ['api.cors_origins', ['a.example'], 'url_invalid'],
    ['market.sim.assets', { 'not ok': {} }, 'string_pattern'],
    ['market.sim.assets', { BTC: { bogus: 1 } }, 'unknown_key'],
    ['logging.level', 'debug', 'enum'],
    ['bogus', 1, 'unknown_key'],
    ['bogus', null, 'unknown_key'],
    ['api.bogus', {}, 'unknown_key'],
    ['brain.regime.bull.bogus', 1, 'unknown_key'],
    ['__proto__', { a: 1 }, 'unknown_key'],
    ['constructor', 1, 'unknown_key'],
  ])('%s may not be %j: %s', (key, value, type) => {
    const faults = faultsOf(key, value)
    expect(faults.map((fault) => fault.type)).toContain(type)
    const named = key.split('.')
    expect(faults[0]?.loc.slice(0, named.length)).toStrictEqual(named)
  })

  it('loses blanks around a token: a token of blanks is an empty one', () => {
    const validation = validateValues({ api: { auth_token: '   ' } })
    expect(validation.status === 'valid' && validation.configuration.api.auth_token).toBe('')
  })
})

describe('keys that do not go together', () => {
  it.each<readonly [string, JsonObject, string, string]>([
    ['weights not adding up', { weights: { curator: 0.3 } }, 'weights', 'conflict'],
    [
      'equal tokens',
      { api: { auth_token: 'same', operator_token: 'same' } },
      'api.operator_token',
      'conflict',
    ],
    ['too many symbols', { universe: { max_size: 4 } }, 'universe.symbols', 'too_large'],
    ['a floor too high', { learning: { floor: 0.17 } }, 'learning.floor', 'conflict'],
    ['a ceiling too low', { learning: { ceiling: 0.16 } }, 'learning.ceiling', 'conflict'],
    ['warm before cold', { learning: { cold_days: 91 } }, 'learning.warm_days', 'conflict'],
    [
      'a position beyond the heat room',
      { execution: { stop_loss_pct: 0.6 } },
      'risk.max_position_pct',
      'conflict',
    ],
    ['no heat room', { risk: { heat_open_fraction: 0 } }, 'risk.max_position_pct', 'conflict'],
    ['costs beyond the band', { execution: { paper_fee_bps: 6.01 } }, 'settlement.band_min', 'conflict'],
    [
      'a search that ends while an order may still arrive',
      { execution: { lookups: { seconds: 15 } } },
      'execution.lookups.seconds',
      'conflict',
    ],
    [
      'a time-out as long as the search',
      { execution: { send_timeout_seconds: 25 } },
      'execution.lookups.seconds',
      'conflict',
    ],
    ['tiers that fall', { brain: { tiers: [60, 60, 90] } }, 'brain.tiers', 'conflict'],
    [
      'doubt beyond silence',
      { brain: { cts: { damping_points: 99 } } },
      'brain.cts.damping_points',
      'conflict',
    ],
    ['a ramp without width', { brain: { cts: { rsi: { from: 30 } } } }, 'brain.cts.rsi.to', 'conflict'],
    ['a file feed without file', { market: { feed: 'file' } }, 'market.file', 'missing'],
    ['a ccxt feed without exchange', { market: { feed: 'ccxt' } }, 'market.exchange', 'missing'],
  ])('%s', (_, values, loc, type) => {
    expect(faultsWith(values).map((fault) => [fault.loc.join('.'), fault.type])).toStrictEqual([[loc, type]])
  })

  it.each<readonly [string, JsonObject]>([
    ['weights within the tolerance', { weights: { curator: 0.251 } }],
    ['unset tokens', { api: { auth_token: '', operator_token: '' } }],
    ['as many symbols as allowed', { universe: { max_size: 5 } }],
    ['the widest stop the heat room holds', { execution: { stop_loss_pct: 0.53 } }],
    ['no position, no heat', { risk: { max_position_pct: 0, heat_open_fraction: 0 } }],
    ['a band of exactly one round trip', { execution: { paper_slippage_bps: 0, paper_fee_bps: 11 } }],
    ['a file feed', { market: { feed: 'file', file: 'bars.csv' } }],
  ])('%s is fine', (_, values) => {
    expect(faultsWith(values)).toStrictEqual([])
  })
})

describe('all faults at once', () => {
  it('names faults of keys and of rules together', () => {
    const faults = faultsWith({
      bogus: 1,
      api: { port: 'x', operator_token: 'a', auth_token: 'a' },
      weights: { curator: 0.9 },
      execution: { dcg_symbols: [1, ''] },
    })
    expect(faults.map(({ loc, type }) => `${loc.join('.')} ${type}`).toSorted()).toStrictEqual([
      'api.operator_token conflict',
      'api.port number_type',
      'bogus unknown_key',
      'execution.dcg_symbols.0 string_type',
      'execution.dcg_symbols.1 string_pattern',
      'execution.dcg_symbols.1 string_too_short',
      'weights conflict',
    ])
  })

  it('asks no rule about a key that is wrong by itself', () => {
    expect(faultsWith({ weights: { curator: 2 } }).map(({ type }) => type)).toStrictEqual(['less_than_equal'])
  })

  it('says which key was meant', () => {
    expect(faultsOf('api.auth_tokn', 'x')[0]?.msg).toBe('is not a known key; did you mean "auth_token"?')
  })

  it('stays within the limit of faults', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]))
    expect(faultsWith(many)).toHaveLength(FAULTS_MAX)
  })
})
