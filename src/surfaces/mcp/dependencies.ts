import type { Configuration } from '../../core/config/schema.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

/** What agents can reach of the house. */
export interface McpDependencies {
  readonly engine: Engine
  /** The settings of this moment. */
  readonly configuration: () => Configuration
  readonly logger: Logger
  readonly clock: Clock
  /** Whether the newest events verify. */
  readonly recentChainOk: () => Promise<boolean>
  readonly version: string
}
