import { z } from 'zod'
import { StrategyError, targetPositionSchema } from '../../../core/strategies/strategy.ts'
import type { AnswerOf, Kind } from './messages.ts'

/** Takes what a file of the user answered, or throws: its code is able to send anything. */
export const checkedAnswer = <Of extends Kind>(kind: Of, answer: unknown): AnswerOf<Of> => {
  const parsed = SCHEMAS[kind].safeParse(answer)
  if (parsed.success) return parsed.data as AnswerOf<Of>
  const [issue] = parsed.error.issues
  throw new StrategyError(`its answer is wrong: ${issue?.path.join('.')}: ${issue?.message}`)
}

const parameterValue = z.union([z.string(), z.number(), z.boolean()])

const { conviction, reason } = targetPositionSchema.shape

const proposal = z.strictObject({
  symbol: z.string().min(1).max(64),
  side: targetPositionSchema.shape.side,
  conviction: conviction.unwrap(),
  sizePct: z.number().gte(0).optional(),
  stopPct: z.number().gt(0).nullable().optional(),
  targetPct: z.number().gt(0).nullable().optional(),
  stopPrice: z.number().gt(0).optional(),
  targetPrice: z.number().gt(0).optional(),
  trailingPct: z.number().gt(0).optional(),
  reason,
})

const SCHEMAS: { readonly [Of in Kind]: z.ZodType } = {
  'describe-strategy': z.strictObject({
    name: z.string(),
    description: z.string(),
    parameters: z.array(
      z.strictObject({
        name: z.string(),
        type: z.enum(['number', 'integer', 'boolean', 'string']),
        default: parameterValue.nullable(),
        minimum: z.number().nullable(),
        maximum: z.number().nullable(),
        choices: z.array(parameterValue),
        description: z.string(),
      }),
    ),
    timeframes: z.array(z.string()),
  }),
  'open-strategy': z.strictObject({
    parameters: z.record(z.string(), parameterValue),
    warmUp: z.strictObject({ bars: z.int().gte(0), seconds: z.number().gt(0) }),
  }),
  'check-parameters': z.array(z.string().nullable()),
  take: z.null(),
  decide: z.array(proposal),
  'describe-producer': z.strictObject({ name: z.string(), domain: z.string(), schedule: z.string() }),
  // Known members of signals are checked where they are stored.
  produce: z.discriminatedUnion('status', [
    z.strictObject({
      status: z.literal('ran'),
      rows: z
        .array(z.strictObject({ type: z.string().max(128), payload: z.record(z.string(), z.json()) }))
        .max(1000),
    }),
    z.strictObject({ status: z.literal('degraded'), reason: z.string().max(1000) }),
  ]),
  translations: z.map(z.string(), z.string()),
}
