import { z } from 'zod'
import { asOfView, pastPoint, type PastPoint } from '../../core/shared/as-of.ts'
import { viewpointAt, type Viewpoint } from '../../engine/queries/viewpoint.ts'
import { refused, type RouteResult } from './results.ts'
import type { Service } from './route.ts'

/** A member of the query of every endpoint that can answer about the past. */
export const asOfQuery = {
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

export const AS_OF_PROBLEMS = ['as_of.busy', 'as_of.out_of_range'] as const

/** A long log takes its time to fold, and one request waits for another. */
export const isAboutPast = ({
  query,
}: {
  readonly query: { readonly as_of?: PastPoint | undefined }
}): boolean => query.as_of !== undefined

/** Of a route that has no other problems. */
export const ABOUT_PAST = { problems: AS_OF_PROBLEMS, mayTakeLong: isAboutPast }

/** Answers from the present, or from the log as it was. */
export const answeredAsOf = async <Body>(
  { as_of: point }: { readonly as_of?: PastPoint | undefined },
  { engine, configuration, clock }: Pick<Service, 'engine' | 'configuration' | 'clock'>,
  answer: (viewpoint: Viewpoint) => RouteResult<Body> | Promise<RouteResult<Body>>,
): Promise<RouteResult<Body>> => {
  const found = await viewpointAt(point, engine, { clock, configuration: configuration.current() })
  if (found.status === 'busy') return refused('as_of.busy', 'Too many questions about the past are waiting')
  if (found.status === 'out-of-range')
    return refused('as_of.out_of_range', `There is no such place in the log: ${found.detail}`)
  const { asOf } = found.viewpoint
  const result = await answer(found.viewpoint)
  if (asOf === null || result.kind !== 'success' || result.form !== 'value') return result
  const { body } = result
  return {
    ...result,
    body: Array.isArray(body) ? body : { ...body, as_of_point: asOf },
    headers: { ...result.headers, 'x-as-of-seq': String(asOf.seq), 'x-as-of-time': asOf.time },
  }
}
