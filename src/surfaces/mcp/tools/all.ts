import type { ToolName } from '../../../core/views/capabilities.ts'
import type { Tool } from '../tool.ts'
import { approveIntent } from './approve-intent.ts'
import { cancelOrder } from './cancel-order.ts'
import { closeAllPositions } from './close-all-positions.ts'
import { closePosition } from './close-position.ts'
import { denyIntent } from './deny-intent.ts'
import { emitProducerSignal } from './emit-producer-signal.ts'
import { explainDecision } from './explain-decision.ts'
import { getBrainStatus } from './get-brain-status.ts'
import { getIntents } from './get-intents.ts'
import { getOpenPositions } from './get-open-positions.ts'
import { getOrders } from './get-orders.ts'
import { getPortfolio } from './get-portfolio.ts'
import { getRecentSignals } from './get-recent-signals.ts'
import { getSignalAttribution } from './get-signal-attribution.ts'
import { getTreasury } from './get-treasury.ts'
import { getWeights } from './get-weights.ts'
import { setKillSwitch } from './set-kill-switch.ts'
import { svcProvenanceCheck } from './svc-provenance-check.ts'

/** Every tool. A new one is its name in core/views/tools.ts, a file, and a line here. */
export const TOOL_BY_NAME: Readonly<Record<ToolName, Tool>> = {
  approve_intent: approveIntent,
  cancel_order: cancelOrder,
  close_all_positions: closeAllPositions,
  close_position: closePosition,
  deny_intent: denyIntent,
  emit_producer_signal: emitProducerSignal,
  explain_decision: explainDecision,
  get_brain_status: getBrainStatus,
  get_intents: getIntents,
  get_open_positions: getOpenPositions,
  get_orders: getOrders,
  get_portfolio: getPortfolio,
  get_recent_signals: getRecentSignals,
  get_signal_attribution: getSignalAttribution,
  get_treasury: getTreasury,
  get_weights: getWeights,
  set_kill_switch: setKillSwitch,
  svc_provenance_check: svcProvenanceCheck,
}
