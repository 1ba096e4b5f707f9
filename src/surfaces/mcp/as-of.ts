import type { z } from 'zod'
import { asOfView, pastPoint, type PastPoint } from '../../core/shared/as-of.ts'
import { viewpointAt, type Viewpoint } from '../../engine/queries/viewpoint.ts'
import { failed, found, orError, type McpDependencies, type ToolOutcome } from './tool.ts'

/** An argument of every tool that can answer about the past. */
export const asOfInput = {
  as_of: pastPoint().optional().meta({
    type: 'string',
    maxLength: 64,
    description: 'the number of an event, or a date and time: the answer is the one of then',
  }),
}

/** A member of every such answer that is an object. */
export const asOfMember = { as_of_point: asOfView.optional() }

export const orAsOfError = (output: z.ZodType) => orError(output, ['as_of_out_of_range', 'as_of_busy'])

/** Answers from the present, or from the log as it was. */
export const foundAsOf = async (
  { as_of: point }: { readonly as_of?: PastPoint | undefined },
  { engine, configuration, clock }: McpDependencies,
  view: (viewpoint: Viewpoint) => Promise<object>,
): Promise<ToolOutcome> => {
  const answer = await viewpointAt(point, engine, { clock, configuration: configuration() })
  if (answer.status === 'busy') return failed('as_of_busy', {})
  if (answer.status === 'out-of-range') return failed('as_of_out_of_range', { detail: answer.detail })
  const { asOf } = answer.viewpoint
  const body = await view(answer.viewpoint)
  return found(asOf === null || Array.isArray(body) ? body : { ...body, as_of_point: asOf })
}
