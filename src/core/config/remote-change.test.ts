import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { type SettingsChange, changeUserSettings } from './change.ts'
import { type EnvironmentVariables, environmentLayer } from './environment.ts'
import { asValues, effectiveConfiguration, type Layers, NO_LAYER } from './layers.ts'
import { redactedConfiguration } from './secrets.ts'

const TOKEN = 'correct-horse-battery-staple-0123'
const OTHER = 'another-horse-battery-staple-0123'

const layersOf = (user: JsonObject, env: EnvironmentVariables = {}): Layers => ({
  defaultFile: NO_LAYER,
  presets: new Map(),
  user: { ...NO_LAYER, values: user },
  environment: environmentLayer(env).layer,
})

const runningOf = (layers: Layers) => {
  const effective = effectiveConfiguration(layers)
  if (effective.status === 'invalid') throw new Error(JSON.stringify(effective.faults))
  return effective.configuration
}

/** A change by a caller who may change everything except risk, with files in `data/`. */
const change = (layers: Layers, body: JsonObject): SettingsChange =>
  changeUserSettings({
    body,
    layers,
    running: runningOf(layers),
    insecureOk: false,
    prefix: ['body'],
    remote: {
      mayChange: ([section]) => section !== 'risk' && section !== 'level',
      isInHome: (file) => file.startsWith('data/'),
    },
  })

const faultsOf = (outcome: SettingsChange): readonly string[] =>
  outcome.status === 'accepted' ? [] : outcome.faults.map(({ loc }) => loc.join('.'))

const user = { api: { auth_token: TOKEN } }

describe('a change over the network', () => {
  it('does not touch keys that its caller may not change', () => {
    const forbidden = change(layersOf(user), {
      risk: { max_leverage: 4 },
      brain: { cycle_interval_seconds: 60 },
    })
    expect([forbidden.status, faultsOf(forbidden)]).toEqual(['forbidden', ['body.risk.max_leverage']])
    expect(change(layersOf(user), { brain: { cycle_interval_seconds: 60 } }).status).toBe('accepted')
  })

  it('does not touch them by a preset, by a reset or behind the environment', () => {
    const byPreset = change(layersOf(user), { preset: 'degen' })
    expect(byPreset.status).toBe('forbidden')
    expect(faultsOf(byPreset)).toContain('body.risk.max_leverage')
    const limited = { ...user, risk: { max_leverage: 1 } }
    for (const body of [{ risk: null }, { risk: { max_leverage: null } }])
      expect(change(layersOf(limited), body).status).toBe('forbidden')
    expect(change(layersOf(user), { risk: null })).toMatchObject({ status: 'accepted', changed: [] })
    const hidden = layersOf(user, { SVC_RISK__MAX_LEVERAGE: '1' })
    expect(change(hidden, { risk: { max_leverage: 4 } }).status).toBe('forbidden')
  })

  it('is forbidden before its values are looked at', () => {
    expect(change(layersOf(user), { level: 1 }).status).toBe('forbidden')
    expect(change(layersOf(user), { risk: { max_leverage: 'x' } }).status).toBe('forbidden')
  })

  it('may send back what is shown', () => {
    const layers = layersOf({ ...user, risk: { max_leverage: 1 } })
    const shown = asValues(redactedConfiguration(runningOf(layers)))
    expect(change(layers, shown)).toMatchObject({ status: 'accepted', changed: [] })
  })

  it('sets no token that was not set', () => {
    const outcome = change(layersOf(user), { api: { operator_token: OTHER } })
    expect([outcome.status, faultsOf(outcome)]).toEqual(['refused', ['body.api.operator_token']])
    const hidden = layersOf(user, { SVC_API__OPERATOR_TOKEN: '' })
    expect(change(hidden, { api: { operator_token: OTHER } }).status).toBe('refused')
    expect(change(layersOf(user), { api: { auth_token: OTHER } }).status).toBe('accepted')
    const both = layersOf({ api: { auth_token: TOKEN, operator_token: OTHER } })
    expect(change(both, { api: { operator_token: `${OTHER}2` } }).status).toBe('accepted')
  })

  it('names no file outside the home folder', () => {
    for (const body of [{ market: { file: '/etc/passwd' } }, { store: { checkpoint_file: '../out' } }])
      expect(change(layersOf(user), body)).toMatchObject({
        status: 'refused',
        faults: [{ type: 'conflict' }],
      })
    expect(change(layersOf(user), { market: { file: 'data/bars.csv' } }).status).toBe('accepted')
    const elsewhere = layersOf({ ...user, store: { checkpoint_file: '/backup/checkpoints' } })
    expect(change(elsewhere, asValues(redactedConfiguration(runningOf(elsewhere)))).status).toBe('accepted')
  })
})
