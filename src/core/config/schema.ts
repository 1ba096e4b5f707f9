import { z } from 'zod'
import { brain } from './sections/brain.ts'
import { alerts, execution, killSwitch, risk, universe } from './sections/trading.ts'
import { plainText, secretFormOf, type SecretForm } from './sections/kinds.ts'
import { karma, learning, producers, settlement, signals, strategies, weights } from './sections/learning.ts'
import { market, technicalAnalysis } from './sections/market.ts'
import {
  api,
  audit,
  backtests,
  dashboard,
  identity,
  logging,
  metrics,
  store,
  stream,
  trace,
} from './sections/service.ts'

export const configurationSchema = z.strictObject({
  preset: plainText(1, 64)
    .default('balanced')
    .describe('conservative, balanced, degen, custom or a file of config/presets'),
  weights,
  risk,
  brain,
  execution,
  kill_switch: killSwitch,
  karma,
  universe,
  learning,
  signals,
  producers,
  strategies,
  settlement,
  market,
  ta: technicalAnalysis,
  alerts,
  store,
  identity,
  api,
  dashboard,
  backtests,
  stream,
  trace,
  audit,
  metrics,
  logging,
})

/** Every key with its effective value. */
export type Configuration = DeepReadonly<z.infer<typeof configurationSchema>>

type DeepReadonly<T> = T extends object ? { readonly [Member in keyof T]: DeepReadonly<T[Member]> } : T

/** Settings that are declared as secrets, by dotted path. No output shows their values. */
export const secretSettings = (): ReadonlyMap<string, SecretForm> =>
  (secrets ??= new Map(secretsIn(configurationSchema, [])))

// Cached on first use, so that commands that show no settings need not search for them.
let secrets: ReadonlyMap<string, SecretForm> | null = null

const secretsIn = (schema: z.core.$ZodType, path: readonly string[]): readonly [string, SecretForm][] => {
  const form = secretFormOf(schema)
  if (form !== null) return [[path.join('.'), form]]
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault)
    return secretsIn(schema.def.innerType, path)
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape as Readonly<Record<string, z.core.$ZodType>>).flatMap(([name, member]) =>
    secretsIn(member, [...path, name]),
  )
}

/** For editors, forms, and programs that write `config/user.yaml`. A setting that is never shown is `writeOnly`. */
export const configurationJsonSchema = (): z.core.JSONSchema.BaseSchema => ({
  ...z.toJSONSchema(configurationSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (secretFormOf(zodSchema) === 'value') jsonSchema.writeOnly = true
    },
  }),
  title: 'Signal Engine configuration',
})
