import { cents, drawsOf } from '../../src/backtest/minute-bars.fixture.ts'
import type { FeedBar } from '../../src/core/market/bar.ts'
import { timestampAt } from '../../src/core/shared/time.ts'

/** Minutes of prices that wander, with slow waves for a moving average to follow; the same for the same seed. */
export function* minutesOf(
  symbols: readonly string[],
  count: number,
  seed = 1,
): Generator<readonly FeedBar[]> {
  const draw = drawsOf(seed)
  const paths = symbols.map((symbol, index) => ({
    symbol,
    base: 100 * (index + 1),
    close: 100 * (index + 1),
  }))
  for (let minute = 0; minute < count; minute += 1) {
    const openMs = BEGIN_MS + minute * MINUTE_MS
    const [open_ts, close_ts] = [timestampAt(openMs), timestampAt(openMs + MINUTE_MS)]
    const wave = 1 + 0.02 * Math.sin(minute / 60) + 0.01 * Math.sin(minute / 23)
    const slow = Math.sin(minute / 2000)
    yield paths.map((path): FeedBar => {
      path.base *= 1 + 0.0002 * (draw() - 0.5)
      const open = cents(path.close)
      const close = cents(path.base * wave)
      path.close = close
      return {
        symbol: path.symbol,
        resolution_s: 60,
        open_ts,
        close_ts,
        open,
        high: cents(Math.max(open, close) * 1.0001),
        low: cents(Math.min(open, close) * 0.9999),
        close,
        volume: cents(1 + 10 * draw()),
        quote_volume: cents(100 + 1000 * draw()),
        funding_annualized: cents(8 + 4 * slow),
        basis_annualized: cents(5 + 2 * slow),
        open_interest_usd: cents(1e6 * (2 + slow)),
        bid_depth_usd: cents(1e5 * draw()),
        ask_depth_usd: cents(1e5 * draw()),
        fear_greed: Math.round(50 + 15 * slow),
        backfill: false,
      }
    })
  }
}

const BEGIN_MS = Date.UTC(2021, 0, 1)
const MINUTE_MS = 60_000
