import type { JsonObject } from '../../src/core/shared/json.ts'
import { timestampAt } from '../../src/core/shared/time.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import type { NewPayload } from '../../src/core/events/catalogue.ts'
import type { FeedBar } from '../../src/core/market/bar.ts'
import { barAt } from '../../src/core/market/bars.fixture.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { appendTo } from '../../test/records.fixture.ts'

export const SYMBOLS = 1000
export const ENTRY_PRICE = 100

/**
 * Configuration without kill switch limits: only prices end a position, because the market's effect on the account is
 * not measured.
 */
export const UNSHAKEN: Configuration = {
  ...DEFAULT_CONFIGURATION,
  execution: { ...DEFAULT_CONFIGURATION.execution, max_positions_per_symbol: 100 },
  kill_switch: {
    ...DEFAULT_CONFIGURATION.kill_switch,
    l1_daily_loss_pct: 1,
    l1_fill_divergence_pct: 1,
    l2_loss_streak: 0,
    l2_portfolio_heat_pct: 1,
    l3_max_drawdown_pct: 1,
  },
  risk: {
    ...DEFAULT_CONFIGURATION.risk,
    daily_loss_limit_pct: 0,
    max_drawdown_pct: 1,
    kelly: { ...DEFAULT_CONFIGURATION.risk.kelly, prior: 1e9 },
  },
}

export const symbolAt = (index: number): string => `S${index % SYMBOLS}`

/** Stop price of a level. Each level is further from the price than the previous one. */
export const stopAt = (level: number): number => ENTRY_PRICE - 1 - level

export const positionAt = (symbol: number, level: number): string => `p-${level}-${symbol % SYMBOLS}`

/** Opens longs in every symbol, one for each level, as if they had just been opened. */
export const holdPositions = async (log: EventLog, levels: number, nowMs: number): Promise<void> => {
  const at = timestampAt(nowMs)
  await appendTo(log, SYMBOLS * levels, (seq) => ({
    type: 'execution.position_opened.v1',
    source: 'oms',
    ts: at,
    recordedAt: at,
    payload: { ...opened(seq % SYMBOLS, Math.floor((seq - 1) / SYMBOLS)) } as JsonObject,
  }))
}

/** A one-minute bar of a symbol that closed at a price. */
export const minuteOf = (symbol: string, close: number, openMs: number): FeedBar =>
  barAt(timestampAt(openMs), close, { symbol })

const opened = (symbol: number, level: number): NewPayload<'execution.position_opened.v1'> => ({
  position_id: positionAt(symbol, level),
  order_id: `o-${level}-${symbol}`,
  intent_id: `i-${level}-${symbol}`,
  conviction_id: 'conviction',
  platform: 'paper',
  asset: symbolAt(symbol),
  direction: 'long',
  entry_price: ENTRY_PRICE,
  quantity: 0.005,
  size_notional: 0.5,
  leverage: 1,
  margin_type: 'isolated',
  stop_loss: stopAt(level),
  take_profit: 2 * ENTRY_PRICE,
  regime_at_entry: 'BULL',
  pcs_at_entry: 80,
  cts_at_entry: 5,
  signal_ids: ['s1'],
  fees_usd: 0.001,
  mark_price: ENTRY_PRICE,
  loss_at_stop_usd: 0.005 * (level + 1),
  remaining_size: 0,
})
