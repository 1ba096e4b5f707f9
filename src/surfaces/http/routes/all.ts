import type { Route } from '../route.ts'
import { brainRoutes } from './brain.ts'
import { configRoutes } from './config.ts'
import { eventRoutes } from './events.ts'
import { healthRoutes } from './health.ts'
import { integrityRoutes } from './integrity.ts'
import { killSwitchRoutes } from './kill-switch.ts'
import { metricsRoutes } from './metrics.ts'
import { openApiRoutes } from './openapi.ts'
import { streamRoutes } from './stream.ts'

/** Every endpoint. A new resource is one file and one line here. */
export const ROUTES: readonly Route[] = [
  ...brainRoutes,
  ...configRoutes,
  ...eventRoutes,
  ...healthRoutes,
  ...integrityRoutes,
  ...killSwitchRoutes,
  ...metricsRoutes,
  ...openApiRoutes,
  ...streamRoutes,
]
