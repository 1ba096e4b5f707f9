import type { Route } from '../route.ts'
import { accessKeyRoutes } from './access-keys.ts'
import { agentRoutes } from './agents.ts'
import { alertRoutes } from './alerts.ts'
import { authorRoutes } from './authors.ts'
import { backtestRoutes } from './backtests.ts'
import { brainRoutes } from './brain.ts'
import { configRoutes } from './config.ts'
import { contributorRoutes } from './contributors.ts'
import { eventRoutes } from './events.ts'
import { integrityRoutes } from './integrity.ts'
import { intentRoutes } from './intents.ts'
import { karmaRoutes } from './karma.ts'
import { killSwitchRoutes, liveRoutes } from './kill-switch.ts'
import { learningRoutes } from './learning.ts'
import { marketRoutes } from './market.ts'
import { mcpRoutes } from './mcp.ts'
import { oracleRoutes } from './oracle.ts'
import { positionRoutes } from './positions.ts'
import { producerRoutes } from './producers.ts'
import { proofRoutes } from './proofs.ts'
import { serviceRoutes } from './service.ts'
import { signalRoutes } from './signals.ts'

/** Every endpoint. A new resource is one file and one line here. */
export const ROUTES: readonly Route[] = [
  ...accessKeyRoutes,
  ...agentRoutes,
  ...alertRoutes,
  ...authorRoutes,
  ...backtestRoutes,
  ...brainRoutes,
  ...configRoutes,
  ...contributorRoutes,
  ...eventRoutes,
  ...integrityRoutes,
  ...intentRoutes,
  ...karmaRoutes,
  ...killSwitchRoutes,
  ...liveRoutes,
  ...learningRoutes,
  ...marketRoutes,
  ...mcpRoutes,
  ...oracleRoutes,
  ...positionRoutes,
  ...producerRoutes,
  ...proofRoutes,
  ...serviceRoutes,
  ...signalRoutes,
]
