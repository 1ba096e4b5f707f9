import { describe, expect, it } from 'vitest'
import { environmentLayer, variableOf } from './environment.ts'
import { CONFIGURATION_KEYS } from './keys.ts'

const valuesOf = (env: Readonly<Record<string, string>>) => environmentLayer(env).layer.values

describe('environmentLayer', () => {
  it('reads text, numbers, switches and lists', () => {
    expect(
      valuesOf({
        SVC_PRESET: 'degen',
        SVC_API__AUTH_TOKEN: '12345',
        SVC_API__PORT: '6000',
        SVC_RISK__MAX_LEVERAGE: '1.5e1',
        SVC_EXECUTION__DCG_SYMBOLS: ' BTC, ETH ,,',
        SVC_UNIVERSE__SYMBOLS: '["A","B"]',
        SVC_API__CORS_ORIGINS: '',
        SVC_BRAIN__TIERS: '55, 65, 75',
        SVC_BRAIN__REGIME__BULL__RSI_ABOVE: '51',
        SVC_MARKET__SIM__ASSETS: '{"DOGE":{"beta":2}}',
        SVC_EXECUTION__REQUIRE_APPROVAL: 'yes',
        svc_audit__reads: 'TRUE',
        Svc_Metrics__Public: '0',
        SVC_DASHBOARD__ENABLED: 'No',
        PATH: '/bin',
      }),
    ).toStrictEqual({
      preset: 'degen',
      api: { auth_token: '12345', port: 6000, cors_origins: [] },
      risk: { max_leverage: 15 },
      execution: { dcg_symbols: ['BTC', 'ETH'], require_approval: true },
      universe: { symbols: ['A', 'B'] },
      brain: { tiers: [55, 65, 75], regime: { bull: { rsi_above: 51 } } },
      market: { sim: { assets: { DOGE: { beta: 2 } } } },
      audit: { reads: true },
      metrics: { public: false },
      dashboard: { enabled: false },
    })
  })

  it.each([
    ['SVC_API__PORT', 'abc'],
    ['SVC_API__PORT', ''],
    ['SVC_API__PORT', '0x10'],
    ['SVC_AUDIT__READS', 'maybe'],
    ['SVC_AUDIT__READS', ''],
    ['SVC_UNIVERSE__SYMBOLS', '[BTC'],
    ['SVC_MARKET__SIM__ASSETS', 'DOGE'],
    ['SVC_MARKET__SIM__ASSETS', '[1]'],
  ])('leaves %s=%s as text, for the schema to refuse', (name, text) => {
    const [section, key, map] = name.slice(4).toLowerCase().split('__')
    const path = [section, key, map].filter((part) => part !== undefined)
    const found = path.reduce<unknown>(
      (value, part) => (value as Record<string, unknown>)[part],
      valuesOf({ [name]: text }),
    )
    expect(found).toBe(text)
  })

  it('refuses names nobody knows, and says which was meant', () => {
    const { problems, warnings } = environmentLayer({ SVC_API_AUTH_TOKEN: 'x', SVC_WEIGHTS: '{}' })
    expect(problems).toStrictEqual([
      'environment variable SVC_API_AUTH_TOKEN is not a known setting; did you mean SVC_API__AUTH_TOKEN?',
      'environment variable SVC_WEIGHTS is not a known setting',
    ])
    expect(warnings).toEqual([])
  })

  it('only warns of names that an orchestrator sets for a service named svc', () => {
    const names = ['SVC_PORT_80_TCP', 'SVC_PORT', 'SVC_SERVICE_HOST', 'SVC_SERVICE_PORT_HTTP']
    const { problems, warnings } = environmentLayer(Object.fromEntries(names.map((name) => [name, 'y'])))
    expect(problems).toEqual([])
    expect(warnings).toStrictEqual(names.map((name) => `environment variable ${name} is not a known setting`))
  })

  it('says nothing of names that are read elsewhere', () => {
    const names = [
      'SVC_HOME',
      'SVC_INSECURE_OK',
      'SVC_DEV_MODE',
      'SVC_MASTER_PASSWORD',
      'SVC_API_BASE_URL',
      'SVC_API_TOKEN',
    ]
    const { layer, warnings } = environmentLayer(Object.fromEntries(names.map((name) => [name, 'x'])))
    expect([layer.values, warnings]).toStrictEqual([{}, []])
  })

  it('prefers the documented spelling of a variable set twice', () => {
    const { layer, warnings } = environmentLayer({ SVC_API__PORT: '1', svc_api__port: '2' })
    expect(layer.values).toStrictEqual({ api: { port: 1 } })
    expect(warnings).toStrictEqual([
      'environment variable svc_api__port is ignored: SVC_API__PORT is set too',
    ])
  })

  it('names the variable of a key, and all of a group', () => {
    const { layer } = environmentLayer({ SVC_API__PORT: '1', svc_api__host: 'x', SVC_PRESET: 'degen' })
    expect(layer.whereIs(['api', 'port'])).toBe('environment variable SVC_API__PORT')
    expect(layer.whereIs(['api'])).toBe('environment variable svc_api__host, SVC_API__PORT')
  })

  it('has a variable for every key', () => {
    expect(new Set(CONFIGURATION_KEYS.map(({ path }) => variableOf(path))).size).toBe(
      CONFIGURATION_KEYS.length,
    )
  })
})
