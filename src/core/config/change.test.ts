import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { type AcceptedChange, type SettingsChange, changeUserSettings } from './change.ts'
import { type EnvironmentVariables, environmentLayer } from './environment.ts'
import { asValues, effectiveConfiguration, type Layers, NO_LAYER } from './layers.ts'
import type { Configuration } from './schema.ts'
import { VENUE_IDS } from '../shared/venues.ts'
import { redactedConfiguration } from './secrets.ts'

const TOKEN = 'correct-horse-battery-staple-0123'

const layersOf = (
  user: JsonObject,
  env: EnvironmentVariables = {},
  defaultFile: JsonObject = {},
): Layers => ({
  defaultFile: { ...NO_LAYER, values: defaultFile },
  presets: new Map(),
  user: { ...NO_LAYER, values: user },
  environment: environmentLayer(env).layer,
})

const running = (layers: Layers): Configuration => {
  const effective = effectiveConfiguration(layers)
  if (effective.status === 'invalid') throw new Error(JSON.stringify(effective.faults))
  return effective.configuration
}

const change = (layers: Layers, body: unknown, insecureOk = false): SettingsChange =>
  changeUserSettings({ body, layers, running: running(layers), insecureOk, prefix: ['body'] })

const accepted = (outcome: SettingsChange): AcceptedChange => {
  if (outcome.status !== 'accepted') throw new Error(JSON.stringify(outcome))
  return outcome
}

const faultsOf = (outcome: SettingsChange): readonly string[] =>
  outcome.status === 'accepted' ? [] : outcome.faults.map(({ loc, type }) => `${loc.join('.')} ${type}`)

const user = { api: { auth_token: TOKEN } }

describe('changeUserSettings', () => {
  it('keeps what is missing, replaces lists, and lists what changed', () => {
    const before = layersOf({ ...user, execution: { dcg_symbols: ['A', 'B'] }, risk: { max_leverage: 3 } })
    const outcome = accepted(
      change(before, { execution: { dcg_symbols: ['C'] }, brain: { cycle_interval_seconds: 60 } }),
    )
    expect(outcome.userValues).toStrictEqual({
      api: { auth_token: TOKEN },
      risk: { max_leverage: 3 },
      execution: { dcg_symbols: ['C'] },
      brain: { cycle_interval_seconds: 60 },
    })
    expect(outcome.changed.toSorted()).toStrictEqual([
      'brain.cycle_interval_seconds',
      'execution.dcg_symbols',
    ])
    expect([outcome.restartRequired, outcome.overriddenByEnv]).toStrictEqual([[], []])
    expect(outcome.configuration.brain.cycle_interval_seconds).toBe(60)
  })

  it('goes back to the default of the preset with null', () => {
    const before = layersOf({ ...user, preset: 'degen', risk: { max_leverage: 3, max_drawdown_pct: 0.2 } })
    const outcome = accepted(change(before, { risk: { max_leverage: null } }))
    expect(outcome.configuration.risk.max_leverage).toBe(5)
    expect(outcome.userValues['risk']).toStrictEqual({ max_drawdown_pct: 0.2 })
    expect(accepted(change(before, { risk: null })).configuration.risk.max_drawdown_pct).toBe(0.4)
  })

  it.each([{}, { api: {} }, { brain: { cts: {} } }, { market: { sim: { assets: {} } } }])(
    'changes nothing for %j',
    (body) => {
      const outcome = accepted(change(layersOf(user), body))
      expect([outcome.changed, outcome.userValuesChanged]).toStrictEqual([[], false])
    },
  )

  it('writes only what differs from default and preset, and secrets', () => {
    const outcome = accepted(
      change(
        layersOf({ ...user, api: { auth_token: TOKEN, port: 5050 } }, {}, { api: { auth_token: TOKEN } }),
        {
          brain: { min_domains: 3 },
          execution: { mode: 'paper', stop_loss_pct: 0.04 },
        },
      ),
    )
    expect(outcome.userValues).toStrictEqual({
      api: { auth_token: TOKEN },
      execution: { stop_loss_pct: 0.04 },
    })
  })

  it('names what needs a restart', () => {
    const body = {
      api: { host: '0.0.0.0', port: 1, rate_limit_per_minute: 9 },
      dashboard: { enabled: false, port: 2 },
      store: { url: 'postgres://h/d', checkpoint_file: '/c', snapshot_every_events: 5 },
      identity: { node_prefix: 'n' },
      karma: { influence: { half_life: 50, prior: 5 } },
    }
    expect(accepted(change(layersOf(user), body)).restartRequired.toSorted()).toStrictEqual([
      'api.host',
      'api.port',
      'dashboard.enabled',
      'dashboard.port',
      'identity.node_prefix',
      'karma.influence.half_life',
      'store.checkpoint_file',
      'store.url',
    ])
  })

  it('keeps the values of the old preset that are sent along with a new one', () => {
    const outcome = accepted(change(layersOf(user), { preset: 'degen', risk: { max_leverage: 2 } }))
    expect(outcome.configuration.risk.max_leverage).toBe(2)
    expect(outcome.configuration.risk.max_position_pct).toBe(0.2)
    expect(outcome.userValues).toStrictEqual({ ...user, preset: 'degen', risk: { max_leverage: 2 } })
  })

  it('takes the body for the wish when the file was changed by hand meanwhile', () => {
    const before = layersOf(user)
    const byHand = layersOf({ ...user, api: { auth_token: TOKEN, port: 7 } })
    const outcome = accepted(
      changeUserSettings({
        body: { api: { port: 5050 } },
        layers: byHand,
        running: running(before),
        insecureOk: false,
        prefix: [],
      }),
    )
    expect([outcome.configuration.api.port, outcome.userValuesChanged]).toStrictEqual([5050, true])
  })
})

describe('secrets', () => {
  it('stay when they come back redacted, in part or whole', () => {
    const before = layersOf({ ...user, store: { url: 'postgres://u:pw@h/d' } })
    const body = {
      api: { auth_token: '***REDACTED***' },
      store: { url: 'postgres://u:***REDACTED***@other/d' },
    }
    const outcome = accepted(change(before, body))
    expect([outcome.changed, outcome.userValuesChanged]).toStrictEqual([[], false])
    expect(outcome.configuration.store.url).toBe('postgres://u:pw@h/d')
  })

  it('change when a new one comes', () => {
    const outcome = accepted(change(layersOf(user), { api: { auth_token: 'x'.repeat(43) } }))
    expect(outcome.changed).toStrictEqual(['api.auth_token'])
    expect(outcome.userValues).toStrictEqual({ api: { auth_token: 'x'.repeat(43) } })
  })

  it('may be empty only where that is allowed', () => {
    for (const token of ['', '   ', null]) {
      const body = { api: { auth_token: token } }
      expect(faultsOf(change(layersOf(user), body))).toStrictEqual(['body.api.auth_token string_too_short'])
      expect(accepted(change(layersOf(user), body, true)).configuration.api.auth_token).toBe('')
    }
  })
})

describe('environment', () => {
  const env = { SVC_API__AUTH_TOKEN: TOKEN, SVC_API__PORT: '6000' }

  it('is not copied into the file', () => {
    const before = layersOf({}, env)
    expect(accepted(change(before, asValues(running(before)))).userValues).toStrictEqual({})
  })

  it('still decides, which is told', () => {
    const outcome = accepted(change(layersOf({}, env), { api: { port: 7000, host: '::1' } }))
    expect(outcome.configuration.api.port).toBe(6000)
    expect(outcome.userValues).toStrictEqual({ api: { port: 7000, host: '::1' } })
    expect([outcome.changed, outcome.overriddenByEnv]).toStrictEqual([['api.host'], ['api.port']])
  })

  it('does not hide a wrong value from the check', () => {
    expect(faultsOf(change(layersOf({}, env), { api: { port: 'x' } }))).toStrictEqual([
      'body.api.port number_type',
    ])
    expect(faultsOf(change(layersOf({}, env), { api: 5 }))).toStrictEqual(['body.api object_type'])
  })

  it('may choose the preset for now without losing what the own preset needs', () => {
    const before = layersOf({ ...user, preset: 'degen' }, { SVC_PRESET: 'balanced' })
    const outcome = accepted(change(before, { risk: { max_leverage: 5 } }))
    expect(outcome.configuration.risk.max_leverage).toBe(5)
    expect(outcome.userValues['risk']).toStrictEqual({ max_leverage: 5 })
    const back = accepted(change(before, redactedConfiguration(running(before))))
    expect([back.changed, back.userValuesChanged]).toStrictEqual([[], false])
  })
})

describe('refusals', () => {
  it.each([[[]], ['x'], [5], [null], [undefined]])('calls %j malformed', (body) => {
    const outcome = change(layersOf(user), body)
    expect([outcome.status, faultsOf(outcome)]).toStrictEqual(['malformed', ['body object_type']])
  })

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ execution: { mode: 'yolo' } }, ['body.execution.mode enum']],
    [{ bogus: 1 }, ['body.bogus unknown_key']],
    [{ bogus: null }, ['body.bogus unknown_key']],
    [{ bogus: {} }, ['body.bogus unknown_key']],
    [{ api: { bogus: 1 } }, ['body.api.bogus unknown_key']],
    [{ api: { port: { deep: 1 } } }, ['body.api.port number_type']],
    [{ execution: { dcg_symbols: {} } }, ['body.execution.dcg_symbols array_type']],
    [{ weights: { curator: 0.5 } }, ['body.weights conflict']],
    [{ preset: 'yolo' }, ['body.preset enum']],
    [
      { preset: 'conservative', bogus: 1, api: { port: -1 } },
      ['body.api.port greater_than_equal', 'body.bogus unknown_key'],
    ],
    [JSON.parse('{"__proto__":{"x":1}}') as JsonObject, ['body.__proto__ unknown_key']],
  ])('%j: %j', (body, faults) => {
    const outcome = change(layersOf(user), body)
    expect([outcome.status, faultsOf(outcome)]).toStrictEqual(['refused', faults])
  })

  it('keeps locked keys from being changed, except to what holds', () => {
    const layers = layersOf({ ...user, karma: { treasury_address: '0xold' } })
    const locked = { 'karma.treasury_address': '0xnew', 'karma.percentage': 0.005 }
    const outcomeOf = (karma: JsonObject): readonly string[] =>
      faultsOf(
        changeUserSettings({
          body: { karma },
          layers,
          running: running(layers),
          insecureOk: false,
          locked,
          prefix: ['body'],
        }),
      )
    expect(outcomeOf({ treasury_address: '0xevil', percentage: 1 })).toStrictEqual([
      'body.karma.percentage conflict',
      'body.karma.treasury_address conflict',
    ])
    expect(outcomeOf({ treasury_address: null })).toStrictEqual(['body.karma.treasury_address conflict'])
    // Repeats the address in force, and changes a setting that is not locked.
    expect(outcomeOf({ treasury_address: '0xold', enabled: false })).toStrictEqual([])
    expect(outcomeOf({ treasury_address: '0xnew' })).toStrictEqual([])
  })

  it('has no room for endless bodies', () => {
    const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`k${index}`, 1]))
    expect(faultsOf(change(layersOf(user), many))).toStrictEqual(['body too_large'])
    const deep = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`) as JsonObject
    expect(faultsOf(change(layersOf(user), deep))).toStrictEqual(['body.a unknown_key'])
  })
})

describe('the venue of live orders', () => {
  it('must be one that gets orders, and the fault lists them', () => {
    for (const venue of ['nowhere', 'kraken', 'nowhere-sandbox']) {
      const outcome = change(layersOf(user), { execution: { venue } })
      expect(faultsOf(outcome)).toEqual(['body.execution.venue enum'])
      const [fault] = outcome.status === 'accepted' ? [] : outcome.faults
      for (const id of VENUE_IDS) expect(fault?.msg).toContain(id)
    }
    for (const venue of [...VENUE_IDS, 'binanceusdm-sandbox'])
      expect(accepted(change(layersOf(user), { execution: { venue } })).changed).toContain('execution.venue')
  })

  it('does not keep other settings from changing while a file names an unknown one', () => {
    const before = layersOf({ ...user, execution: { venue: 'nowhere' } })
    const changed = accepted(change(before, { brain: { cycle_interval_seconds: 60 } }))
    expect(changed.changed).toEqual(['brain.cycle_interval_seconds'])
    expect(accepted(change(before, { execution: { venue: '' } })).changed).toEqual(['execution.venue'])
  })
})
