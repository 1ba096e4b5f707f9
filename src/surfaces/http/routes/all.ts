import type { Route } from '../route.ts'
import { brainRoutes } from './brain.ts'
import { capabilityRoutes } from './capabilities.ts'
import { configRoutes } from './config.ts'
import { contributorRoutes } from './contributors.ts'
import { eventRoutes } from './events.ts'
import { healthRoutes } from './health.ts'
import { integrityRoutes } from './integrity.ts'
import { intentRoutes } from './intents.ts'
import { karmaRoutes } from './karma.ts'
import { killSwitchRoutes } from './kill-switch.ts'
import { learningRoutes } from './learning.ts'
import { liveRoutes } from './live.ts'
import { mcpRoutes } from './mcp.ts'
import { metricsRoutes } from './metrics.ts'
import { openApiRoutes } from './openapi.ts'
import { oracleRoutes } from './oracle.ts'
import { portfolioRoutes } from './portfolio.ts'
import { positionRoutes } from './positions.ts'
import { producerRoutes } from './producers.ts'
import { proofRoutes } from './proofs.ts'
import { signalRoutes } from './signals.ts'
import { streamRoutes } from './stream.ts'
import { traceRoutes } from './trace.ts'
import { treasuryRoutes } from './treasury.ts'

/** Every endpoint. A new resource is one file and one line here. */
export const ROUTES: readonly Route[] = [
  ...brainRoutes,
  ...capabilityRoutes,
  ...configRoutes,
  ...contributorRoutes,
  ...eventRoutes,
  ...healthRoutes,
  ...integrityRoutes,
  ...intentRoutes,
  ...karmaRoutes,
  ...killSwitchRoutes,
  ...learningRoutes,
  ...liveRoutes,
  ...mcpRoutes,
  ...metricsRoutes,
  ...openApiRoutes,
  ...oracleRoutes,
  ...portfolioRoutes,
  ...positionRoutes,
  ...producerRoutes,
  ...proofRoutes,
  ...signalRoutes,
  ...streamRoutes,
  ...traceRoutes,
  ...treasuryRoutes,
]
