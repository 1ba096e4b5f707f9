import { z } from 'zod'
import type { JsonObject } from '../shared/json.ts'

export const contributorEvents = {
  'contributor.registered.v1': z.object({
    contributor_id: z.string(),
    node_id: z.string(),
    name: z.string(),
    role: z.string(),
    metadata: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
  }),
  'contributor.removed.v1': z.object({ contributor_id: z.string(), node_id: z.string() }),
} as const
