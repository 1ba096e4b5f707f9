import { z } from 'zod'
import { brain } from './sections/brain.ts'
import { alerts, execution, killSwitch, risk, universe } from './sections/trading.ts'
import { plainText } from './sections/kinds.ts'
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

/** For editors, and for programs that write `config/user.yaml`. */
export const configurationJsonSchema = (): z.core.JSONSchema.BaseSchema => ({
  ...z.toJSONSchema(configurationSchema, { io: 'input' }),
  title: 'Signal Engine configuration',
})
