import { z } from 'zod'

export const traceEvents = {
  'trace.session_opened.v1': z.object({
    session_id: z.string(),
    label: z.string(),
    agent: z.string().nullable(),
  }),
  'trace.session_appended.v1': z.object({ session_id: z.string(), trace_id: z.string() }),
  'trace.session_closed.v1': z.object({ session_id: z.string() }),
} as const
