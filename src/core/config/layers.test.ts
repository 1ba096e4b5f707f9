import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { environmentLayer } from './environment.ts'
import {
  changedKeys,
  effectiveConfiguration,
  type Layer,
  type Layers,
  NO_LAYER,
  type PresetFile,
} from './layers.ts'
import type { Configuration } from './schema.ts'
import { DEFAULT_CONFIGURATION, validateValues } from './validate.ts'

const layer = (name: string, values: JsonObject): Layer => ({
  values,
  whereIs: (path) => `${name}#${path.join('.')}`,
})

const layersOf = ({
  defaultFile = {},
  user = {},
  env = {},
  presets = {},
}: {
  readonly defaultFile?: JsonObject
  readonly user?: JsonObject
  readonly env?: Readonly<Record<string, string>>
  readonly presets?: Readonly<Record<string, PresetFile>>
}): Layers => ({
  defaultFile: layer('default.yaml', defaultFile),
  presets: new Map(Object.entries(presets)),
  user: layer('user.yaml', user),
  environment: environmentLayer(env).layer,
})

const configurationOf = (layers: Layers): Configuration => {
  const effective = effectiveConfiguration(layers)
  if (effective.status === 'invalid') throw new Error(JSON.stringify(effective.faults))
  return effective.configuration
}

const faultsOf = (layers: Layers) => {
  const effective = effectiveConfiguration(layers)
  return effective.status === 'invalid' ? effective.faults : []
}

describe('effectiveConfiguration', () => {
  it('is the defaults without any source', () => {
    const none: Layers = { defaultFile: NO_LAYER, presets: new Map(), user: NO_LAYER, environment: NO_LAYER }
    expect(configurationOf(none)).toStrictEqual(DEFAULT_CONFIGURATION)
  })

  it('lets the stronger source win: default file, preset, user settings, environment', () => {
    const defaultFile = { risk: { max_leverage: 3, heat_open_fraction: 0.8 }, api: { port: 1 } }
    const byDefaultFile = configurationOf(layersOf({ defaultFile: { ...defaultFile, preset: 'custom' } }))
    expect(byDefaultFile.risk.max_leverage).toBe(3)
    const byPreset = configurationOf(layersOf({ defaultFile }))
    expect([byPreset.risk.max_leverage, byPreset.risk.heat_open_fraction, byPreset.api.port]).toStrictEqual([
      2, 0.8, 1,
    ])
    const user = { risk: { max_leverage: 4 }, api: { port: 2 } }
    const byUser = configurationOf(layersOf({ defaultFile, user }))
    expect([byUser.risk.max_leverage, byUser.api.port]).toStrictEqual([4, 2])
    const byEnv = configurationOf(layersOf({ defaultFile, user, env: { SVC_API__PORT: '3' } }))
    expect([byEnv.risk.max_leverage, byEnv.api.port]).toStrictEqual([4, 3])
  })

  it('takes the preset from the strongest source that names one', () => {
    const leverageOf = (layers: Layers) => configurationOf(layers).risk.max_leverage
    expect(leverageOf(layersOf({ defaultFile: { preset: 'degen' } }))).toBe(5)
    expect(leverageOf(layersOf({ defaultFile: { preset: 'degen' }, user: { preset: 'conservative' } }))).toBe(
      1,
    )
    expect(leverageOf(layersOf({ user: { preset: 'conservative' }, env: { SVC_PRESET: 'degen' } }))).toBe(5)
    expect(leverageOf(layersOf({ defaultFile: { preset: 'degen' }, user: { preset: null } }))).toBe(5)
  })

  it.each([
    ['conservative', [0.3, 0.25, 0.2, 0.1, 0.1, 0.05], [1, 0.05, 0.03, 0.02, 0.15]],
    ['balanced', [0.25, 0.25, 0.2, 0.15, 0.1, 0.05], [2, 0.1, 0.06, 0.03, 0.3]],
    ['degen', [0.2, 0.25, 0.15, 0.2, 0.15, 0.05], [5, 0.2, 0.1, 0.05, 0.4]],
    ['custom', [0.25, 0.25, 0.2, 0.15, 0.1, 0.05], [2, 0.1, 0.06, 0.03, 0.3]],
  ])('knows preset %s', (preset, weights, limits) => {
    const { weights: found, risk } = configurationOf(layersOf({ user: { preset } }))
    expect([
      found.curator,
      found.onchain,
      found.tradfi,
      found.social,
      found.technical,
      found.events,
    ]).toStrictEqual(weights)
    expect([
      risk.max_leverage,
      risk.max_position_pct,
      risk.max_portfolio_heat_pct,
      risk.daily_loss_limit_pct,
      risk.max_drawdown_pct,
    ]).toStrictEqual(limits)
  })

  it('knows presets from files, which win over built-in ones', () => {
    const read = (values: JsonObject): PresetFile => ({ status: 'read', layer: layer('preset', values) })
    const presets = { mine: read({ api: { port: 7 } }), degen: read({ risk: { max_leverage: 9 } }) }
    expect(configurationOf(layersOf({ presets, user: { preset: 'mine' } })).api.port).toBe(7)
    expect(configurationOf(layersOf({ presets, user: { preset: 'degen' } })).risk.max_leverage).toBe(9)
  })

  it('refuses a preset nobody knows, one that cannot be read, and one that chooses a preset', () => {
    const presets: Readonly<Record<string, PresetFile>> = {
      torn: { status: 'broken', reason: 'config/presets/torn.yaml:1:1: oops' },
      nested: { status: 'read', layer: layer('preset', { preset: 'degen' }) },
    }
    expect(faultsOf(layersOf({ presets, user: { preset: 'yolo' } }))).toStrictEqual([
      {
        loc: ['preset'],
        type: 'enum',
        msg: 'must be one of conservative, balanced, degen, custom, torn, nested',
        source: 'user.yaml#preset',
      },
    ])
    expect(faultsOf(layersOf({ presets, env: { SVC_PRESET: 'torn' } }))[0]).toMatchObject({
      type: 'conflict',
      msg: 'must be readable: config/presets/torn.yaml:1:1: oops',
      source: 'environment variable SVC_PRESET',
    })
    expect(faultsOf(layersOf({ presets, user: { preset: 'nested' } }))[0]?.type).toBe('conflict')
    expect(faultsOf(layersOf({ user: { preset: 5 } }))[0]?.type).toBe('string_type')
  })

  it('blames the source that is wrong', () => {
    const faults = faultsOf(
      layersOf({
        defaultFile: { bogus: 1, api: { port: 1 } },
        user: { execution: { mode: 'yolo' }, weights: { curator: 0.9 } },
        env: { svc_api__port: 'abc', SVC_BRAIN__TIERS: '1,x' },
      }),
    )
    expect(Object.fromEntries(faults.map(({ loc, source }) => [loc.join('.'), source]))).toStrictEqual({
      'execution.mode': 'user.yaml#execution.mode',
      'api.port': 'environment variable svc_api__port',
      'brain.tiers': 'environment variable SVC_BRAIN__TIERS',
      bogus: 'default.yaml#bogus',
      weights: 'user.yaml#weights',
    })
  })

  it('knows no source for what nobody said', () => {
    expect(faultsOf(layersOf({ user: { market: { feed: 'file' } } }))[0]?.source).toBe('user.yaml#market')
    expect(faultsOf(layersOf({ env: { SVC_UNIVERSE__MAX_SIZE: '2' } }))[0]?.source).toBe(
      'environment variable SVC_UNIVERSE__MAX_SIZE',
    )
    expect(faultsOf(layersOf({ user: { execution: { paper_fee_bps: 100 } } }))[0]?.source).toBeNull()
  })
})

describe('changedKeys', () => {
  it('names what differs, members of maps too', () => {
    const after = validateValues({
      api: { port: 1 },
      execution: { dcg_symbols: ['X'] },
      market: { sim: { assets: { DOGE: {} } } },
    })
    const changed = after.status === 'valid' ? changedKeys(DEFAULT_CONFIGURATION, after.configuration) : []
    const names = changed.map((path) => path.join('.'))
    expect(names).toContain('api.port')
    expect(names).toContain('execution.dcg_symbols')
    expect(names).toContain('market.sim.assets.DOGE.beta')
    expect(names).toContain('market.sim.assets.BTC.beta')
    expect(changedKeys(DEFAULT_CONFIGURATION, DEFAULT_CONFIGURATION)).toStrictEqual([])
  })
})
