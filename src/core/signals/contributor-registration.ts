import { z } from 'zod'
import { storableObject } from '../shared/json-object.ts'
import { plainText } from '../shared/text.ts'

const METADATA_BYTES_MAX = 16 * 1024

/** What a contributor says of itself. */
export const contributorRegistration = z.object({
  node_id: plainText(128),
  name: z.string().min(1).max(128),
  role: z.string().min(1).max(64).meta({ description: 'usually operator, agent, curator or tester' }),
  metadata: storableObject({ bytesMax: METADATA_BYTES_MAX }).default({}),
})
