import type { ToolName } from '../../../core/views/capabilities.ts'
import type { Tool } from '../tool.ts'
import { brainTools } from './brain.ts'
import { intentTools } from './intents.ts'
import { killSwitchTools } from './kill-switch.ts'
import { orderTools } from './orders.ts'
import { positionTools } from './positions.ts'
import { provenanceTools } from './provenance.ts'
import { signalTools } from './signals.ts'
import { treasuryTools } from './treasury.ts'

/** Every tool. A new one is its name in TOOLS in core/views/capabilities.ts, a file, and a line here. */
export const TOOL_BY_NAME: Readonly<Record<ToolName, Tool>> = {
  ...brainTools,
  ...intentTools,
  ...killSwitchTools,
  ...orderTools,
  ...positionTools,
  ...provenanceTools,
  ...signalTools,
  ...treasuryTools,
}
