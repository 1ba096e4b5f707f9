import { z } from 'zod'
import type { Timestamp } from './brand.ts'
import { parseTimestamp } from './time.ts'

/** A place in the log: after this event, or at this time. */
export type PastPoint =
  | { readonly kind: 'seq'; readonly seq: number }
  | { readonly kind: 'time'; readonly time: Timestamp }

/** Returns null unless the text is the number of an event or a date and time. */
export const parsePastPoint = (text: string): PastPoint | null => {
  if (/^[0-9]{1,15}$/.test(text)) return { kind: 'seq', seq: Number(text) }
  const time = parseTimestamp(text)
  return time === null ? null : { kind: 'time', time }
}

export const PAST_POINT_FORM =
  'must be the number of an event, or a date and time such as 2026-02-20T00:29:58Z'

/** A place in the log that a client names. */
export const pastPoint = () =>
  z
    .string()
    .max(64)
    .transform((text, context): PastPoint => {
      const point = parsePastPoint(text)
      if (point !== null) return point
      context.addIssue({ code: 'custom', message: PAST_POINT_FORM, params: { type: 'string_pattern' } })
      return z.NEVER
    })

/** Point in the log that an answer describes. */
export const asOfView = z.object({
  seq: z.int().meta({ description: 'the last event that counts' }),
  time: z.string().meta({ description: 'the time asked for, or that of the event' }),
  configuration: z
    .enum(['recorded', 'current'])
    .meta({ description: 'settings in force then; `current`, where the log does not hold them' }),
})

export type AsOfView = z.infer<typeof asOfView>
