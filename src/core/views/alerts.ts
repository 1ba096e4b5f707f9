import { z } from 'zod'
import type { OpenAlerts } from '../operations/alerts.ts'

const alertView = z.object({
  id: z.string(),
  seq: z.int(),
  ts: z.string(),
  type: z.string().meta({ description: 'such as `alert.stop_triggered`: docs/events.md lists them' }),
  payload: z.looseObject({ urgency: z.string(), message: z.string() }),
})

export const alertsView = z.object({
  open: z.array(alertView).meta({ description: 'newest first' }),
})

export const viewAlerts = (alerts: OpenAlerts): z.infer<typeof alertsView> => ({
  open: [...alerts.values()].sort((one, other) => other.seq - one.seq),
})

export const acknowledgedView = z.object({
  acknowledged: z.array(z.string()).meta({ description: 'ids' }),
  not_open: z
    .array(z.string())
    .meta({ description: 'ids of the request that are not open: acknowledged before, or of no alert' }),
})

export const viewAcknowledged = (
  asked: readonly string[],
  acknowledged: readonly string[],
): z.infer<typeof acknowledgedView> => ({
  acknowledged: [...acknowledged],
  not_open: [...new Set(asked)].filter((id) => !acknowledged.includes(id)),
})
