import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../shared/json.ts'
import { type AcceptedChange, type SettingsChange, changeUserSettings } from './change.ts'
import { type EnvironmentVariables, environmentLayer, variableOf } from './environment.ts'
import { CONFIGURATION_KEYS, type Key } from './keys.ts'
import { asValues, baseValues, effectiveConfiguration, type Layers, NO_LAYER, setsKey } from './layers.ts'
import { type Configuration, configurationJsonSchema } from './schema.ts'
import { isSecret, redactedConfiguration } from './secrets.ts'
import { type Leaf, leavesOf, sameValue, valueAt, withValue } from './values.ts'

const layersOf = (user: JsonObject, env: EnvironmentVariables): Layers => ({
  defaultFile: NO_LAYER,
  presets: new Map(),
  user: { ...NO_LAYER, values: user },
  environment: environmentLayer(env).layer,
})

const running = (layers: Layers): Configuration => {
  const effective = effectiveConfiguration(layers)
  if (effective.status === 'invalid') throw new Error(JSON.stringify(effective.faults))
  return effective.configuration
}

const change = (layers: Layers, body: unknown): SettingsChange =>
  changeUserSettings({ body, layers, running: running(layers), insecureOk: true, prefix: ['body'] })

const accepted = (outcome: SettingsChange): AcceptedChange => {
  if (outcome.status !== 'accepted') throw new Error(JSON.stringify(outcome))
  return outcome
}

/** Each run validates a complete configuration many times. */
const RUNS = { numRuns: 40 }

describe('any valid configuration', () => {
  it('sent back as it is shown changes nothing', () => {
    fc.assert(
      fc.property(settings(), settings(), presetNames, presetNames, (mine, variables, own, chosen) => {
        const layers = layersWith(mine, variables, own, chosen)
        fc.pre(layers !== null)
        const outcome = accepted(change(layers, redactedConfiguration(running(layers))))
        expect([outcome.changed, outcome.userValuesChanged, outcome.overriddenByEnv]).toStrictEqual([
          [],
          false,
          [],
        ])
      }),
      RUNS,
    )
  })

  it('takes any wishes: they come true, survive a restart, and nothing else is written', () => {
    fc.assert(
      fc.property(
        settings(),
        settings(),
        settings(),
        presetNames,
        presetNames,
        (mine, variables, requests, own, chosen) => {
          const layers = layersWith(mine, variables, own, chosen)
          fc.pre(layers !== null)
          const outcome = change(layers, valuesOf(requests))
          fc.pre(outcome.status === 'accepted')
          for (const { path, value } of requests) {
            const decided = setsKey(layers.environment, path)
            if (!decided) expect(valueAt(asValues(outcome.configuration), path)).toStrictEqual(value)
            const differs = !sameValue(valueAt(asValues(outcome.configuration), path), value)
            expect(outcome.overriddenByEnv.includes(path.join('.'))).toBe(differs)
          }
          const saved: Layers = { ...layers, user: { ...NO_LAYER, values: outcome.userValues } }
          expect(running(saved)).toStrictEqual(outcome.configuration)
          const again = accepted(change(saved, valuesOf(requests)))
          expect([again.changed, again.userValuesChanged]).toStrictEqual([[], false])
          for (const { path, value } of leavesOf(outcome.userValues)) {
            const said = [layers.user.values, valuesOf(requests)].some((one) =>
              sameValue(valueAt(one, path), value),
            )
            expect(said).toBe(true)
            const bases = [saved, { ...saved, environment: NO_LAYER }].map(baseValues)
            expect(isSecret(path) || bases.some((base) => !sameValue(valueAt(base, path), value))).toBe(true)
          }
        },
      ),
      RUNS,
    )
  })

  it('is the configuration without user settings again after null for each of them', () => {
    fc.assert(
      fc.property(settings(), settings(), presetNames, (mine, variables, chosen) => {
        const layers = layersWith(mine, variables, null, chosen)
        fc.pre(layers !== null)
        const outcome = change(layers, valuesOf(mine.map(({ path }) => ({ path, value: null }))))
        fc.pre(outcome.status === 'accepted')
        expect(outcome.configuration).toStrictEqual(running({ ...layers, user: NO_LAYER }))
        expect(outcome.userValues).toStrictEqual({})
      }),
      RUNS,
    )
  })
})

const presetNames = fc.constantFrom(null, 'conservative', 'balanced', 'degen', 'custom')

/** Returns null if the drawn values conflict. */
function layersWith(
  mine: readonly Leaf[],
  variables: readonly Leaf[],
  own: string | null,
  chosen: string | null,
): Layers | null {
  const variable = ({ path, value }: Leaf): readonly [string, string] => [
    variableOf(path),
    typeof value === 'string' ? value : JSON.stringify(value),
  ]
  const env = Object.fromEntries([
    ...variables.map(variable),
    ...(chosen === null ? [] : [['SVC_PRESET', chosen] as const]),
  ])
  const layers = layersOf({ ...valuesOf(mine), ...(own === null ? {} : { preset: own }) }, env)
  const alone = effectiveConfiguration({ ...layers, environment: NO_LAYER })
  return alone.status === 'valid' && effectiveConfiguration(layers).status === 'valid' ? layers : null
}

function valuesOf(leaves: readonly Leaf[]): JsonObject {
  return leaves.reduce((values, { path, value }) => withValue(values, path, value), {} as JsonObject)
}

/** A few valid keys, each with a value its schema allows. */
function settings(): fc.Arbitrary<readonly Leaf[]> {
  const settable = CONFIGURATION_KEYS.filter(({ path, kind }) => kind !== 'map' && path[0] !== 'preset')
  return fc
    .uniqueArray(fc.constantFrom(...settable), { maxLength: 6 })
    .chain((keys) =>
      fc.tuple(...keys.map((key) => valueOf(key).map((value): Leaf => ({ path: key.path, value })))),
    )
}

interface KeySchema {
  readonly properties?: Readonly<Record<string, KeySchema>>
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly maximum?: number
}

const KEY_SCHEMA = configurationJsonSchema() as KeySchema
const WORDS = ['', 'a', 'svc', 'kraken']
const SPECIAL: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  'brain.tiers': fc.constantFrom([50, 60, 70], [60, 75, 90], [51, 52, 100]),
  'brain.regime_symbol': fc.constantFrom('BTC', 'ETH'),
  'universe.symbols': fc.array(fc.constantFrom('BTC', 'ETH', 'SOL'), { minLength: 1, maxLength: 5 }),
  'api.cors_origins': fc.array(fc.constantFrom('https://a.example', 'http://b.example:81'), { maxLength: 3 }),
  'api.host': fc.constantFrom('127.0.0.1', '::1'),
  'dashboard.host': fc.constantFrom('127.0.0.1', '::1'),
  'api.auth_token': fc.constantFrom('', 'one', 'x'.repeat(43)),
  'api.operator_token': fc.constantFrom('', 'other'),
  'store.url': fc.constantFrom('', 'postgres://u:p@h/d', 'postgres://u:p@w@h/d?password=x'),
  'identity.node_prefix': fc.constantFrom('svc', 'node'),
}

function valueOf({ path, kind }: Key): fc.Arbitrary<Json> {
  const special = SPECIAL[path.join('.')]
  if (special !== undefined) return special
  const schema = path.reduce<KeySchema>((group, name) => group.properties?.[name] ?? {}, KEY_SCHEMA)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (kind) {
    case 'flag':
      return fc.boolean()
    case 'texts':
      return fc.array(fc.constantFrom('A', 'B', 'C'), { maxLength: 3 })
    case 'number':
      return numberIn(schema)
    default:
      return fc.constantFrom(...WORDS)
  }
}

function numberIn(schema: KeySchema): fc.Arbitrary<number> {
  const max = schema.maximum ?? schema.exclusiveMaximum ?? 1
  const min = schema.minimum ?? schema.exclusiveMinimum ?? 0
  if (schema.type === 'integer') return fc.integer({ min, max })
  return fc
    .double({
      min,
      max,
      minExcluded: schema.exclusiveMinimum !== undefined,
      maxExcluded: schema.exclusiveMaximum !== undefined,
      noNaN: true,
      // Files do not distinguish zero from negative zero.
    })
    .map((value) => (value === 0 ? 0 : value))
}
