import { z } from 'zod'
import { cronText } from '../shared/cron.ts'
import { httpUrl } from '../shared/http-url.ts'

const DEFAULT_SCHEDULE = '*/15 * * * *'

/** What a producer says of itself. Its endpoint is not contacted now. */
export const producerRegistration = z.object({
  name: z
    .string()
    .max(128)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, {
      error:
        'must begin with a letter or digit and hold only letters, digits, dots, underscores, colons and hyphens',
    }),
  domain: z
    .string()
    .max(64)
    .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, {
      error: 'must begin with a letter and hold only letters, digits, underscores and hyphens',
    })
    .toLowerCase()
    .meta({ description: 'curator, onchain, tradfi, social, technical and events carry weight' }),
  endpoint: httpUrl(),
  schedule: cronText().default(DEFAULT_SCHEDULE),
})
