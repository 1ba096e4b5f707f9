import { z } from 'zod'
import { asOfView, pastPoint } from '../../core/shared/as-of.ts'
import { viewpointAt, type Viewpoint } from '../../engine/queries/viewpoint.ts'
import type { ProblemCode } from '../problem-codes.ts'
import { refused, type RouteResult } from './results.ts'
import type { Service } from './route.ts'

const asOfQuery = {
  as_of: z
    .preprocess((value) => (value === '' ? undefined : value), pastPoint().optional())
    .optional()
    .meta({
      type: 'string',
      maxLength: 64,
      description:
        'the number of an event, or a date and time: the answer is the one of then. The headers `X-As-Of-Seq` and ' +
        '`X-As-Of-Time` say which event was the last one',
      examples: ['2026-02-20T00:29:58.000Z'],
    }),
}

/** A member of every such answer that is an object; `as_of` has long been the time at which some are true. */
export const asOfMember = {
  as_of_point: asOfView.optional().meta({ description: 'only with the parameter `as_of`' }),
}

interface AsOfInput<Shape extends z.ZodRawShape, Params> {
  readonly params: Params
  readonly query: z.output<z.ZodObject<Shape & typeof asOfQuery>>
}

/** The part of a route that answers from the present, or from the log as it was. */
export const aboutPast = <Body, Shape extends z.ZodRawShape = typeof asOfQuery, Params = unknown>({
  query,
  problems = [],
  answer,
}: {
  /** Besides `as_of`. */
  readonly query?: Shape
  readonly problems?: readonly ProblemCode[]
  readonly answer: (
    viewpoint: Viewpoint,
    input: AsOfInput<Shape, Params>,
  ) => RouteResult<Body> | Promise<RouteResult<Body>>
}) => ({
  query: z.object({ ...query, ...asOfQuery } as Shape & typeof asOfQuery),
  problems: [...problems, 'as_of.busy', 'as_of.out_of_range'] as const,
  // A long log takes its time to fold, and one request waits for another.
  mayTakeLong: ({ query: { as_of: point } }: AsOfInput<typeof asOfQuery, unknown>) => point !== undefined,
  handler: async (
    input: AsOfInput<Shape, Params>,
    { engine, configuration, clock }: Service,
  ): Promise<RouteResult<Body>> => {
    const { as_of: point } = input.query as z.output<z.ZodObject<typeof asOfQuery>>
    const found = await viewpointAt(point, engine, { clock, configuration: configuration.current() })
    if (found.status === 'busy') return refused('as_of.busy', 'Too many questions about the past are waiting')
    if (found.status === 'out-of-range')
      return refused('as_of.out_of_range', `There is no such place in the log: ${found.detail}`)
    const { asOf } = found.viewpoint
    const result = await answer(found.viewpoint, input)
    if (asOf === null || result.kind !== 'success' || result.form !== 'value') return result
    const { body } = result
    return {
      ...result,
      body: Array.isArray(body) ? body : { ...body, as_of_point: asOf },
      headers: { ...result.headers, 'x-as-of-seq': String(asOf.seq), 'x-as-of-time': asOf.time },
    }
  },
})
