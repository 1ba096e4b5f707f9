import { intentId as intentIdOf } from '../../core/shared/brand.ts'
import { timeAt, appendTo } from '../../../test/records.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { NewPayload } from '../../core/events/catalogue.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { startTestServer, type TestServerOptions } from './test-server.fixture.ts'

/** A server whose brain wants trades that wait for an operator. There are prices of BTC and ETH, none of SOL. */
export const startTrading = async (options: TestServerOptions = {}) => {
  const log = await logWithIntents()
  const server = await startTestServer({ log, ...options })
  const bars = ['BTC', 'ETH'].map((symbol) => barAt('2026-02-20T00:29:00.000Z', 100, { symbol }))
  await server.engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
  /** Opens a position through the intent of its symbol. */
  const open = async (intentId: string): Promise<string> => {
    const decision = {
      intentId: intentIdOf(intentId),
      operator: server.engine.nodeId,
      note: null,
      surface: 'api',
    } as const
    await server.engine.execute({ kind: 'approve-intent', decision })
    const id = server.engine.state.trading.intents.get(intentIdOf(intentId))?.positionId
    if (id === null || id === undefined) throw new Error(`${intentId} did not become a position`)
    return id
  }
  return Object.assign(server, { open })
}

/** By symbol, oldest first. */
export const INTENT_IDS = { BTC: 'intent-1', ETH: 'intent-2', SOL: 'intent-3' } as const

export const logWithIntents = async (): Promise<EventLog> => {
  const log = new MemoryLog()
  const symbols = Object.keys(INTENT_IDS) as readonly (keyof typeof INTENT_IDS)[]
  await appendTo(log, symbols.length, (seq) => {
    const symbol = symbols[seq - 1] ?? 'BTC'
    return {
      id: INTENT_IDS[symbol],
      type: 'execution.trade_intent.v1',
      source: 'brain',
      ts: timeAt(seq),
      payload: intentFor(symbol) as unknown as JsonObject,
    }
  })
  return log
}

export const intentFor = (symbol: string): NewPayload<'execution.trade_intent.v1'> => ({
  cycle_id: 'cycle',
  symbol,
  direction: 'long',
  size_pct: 0.05,
  leverage: 1,
  conviction_score: 80,
  regime: 'BULL',
  rationale: 'test',
  stop_loss_pct: 0.05,
  take_profit_pct: 0.1,
  valid_until: '2026-02-20T01:30:00.000Z',
  conviction_id: 'conviction',
  signal_ids: ['s1'],
  attribution: [{ signal_id: 's1', weight: 1 }],
  intended_price: null,
  approval_required: true,
  status: 'awaiting_approval',
  pcs_score: 80,
  cts_score: 5,
})
