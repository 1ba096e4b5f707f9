import type { JsonObject } from '../shared/json.ts'

/** What a preset says when no file of its name does. */
export const BUILT_IN_PRESETS: ReadonlyMap<string, JsonObject> = new Map([
  ['conservative', preset([0.3, 0.25, 0.2, 0.1, 0.1, 0.05], [1, 0.05, 0.03, 0.02, 0.15])],
  ['balanced', preset([0.25, 0.25, 0.2, 0.15, 0.1, 0.05], [2, 0.1, 0.06, 0.03, 0.3])],
  ['degen', preset([0.2, 0.25, 0.15, 0.2, 0.15, 0.05], [5, 0.2, 0.1, 0.05, 0.4])],
  ['custom', {}],
])

function preset(
  [curator, onchain, tradfi, social, technical, events]: readonly [
    number,
    number,
    number,
    number,
    number,
    number,
  ],
  [leverage, position, heat, dailyLoss, drawdown]: readonly [number, number, number, number, number],
): JsonObject {
  return {
    weights: { curator, onchain, tradfi, social, technical, events },
    risk: {
      max_leverage: leverage,
      max_position_pct: position,
      max_portfolio_heat_pct: heat,
      daily_loss_limit_pct: dailyLoss,
      max_drawdown_pct: drawdown,
    },
  }
}
