import { afterEach, expect, it } from 'vitest'
import { appendTo, timeAt } from '../../../../test/records.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import type { TestServerOptions } from '../test-server.fixture.ts'
import { INTENT_IDS, intentFor, startTrading } from '../trading.fixture.ts'

const CONVICTION: JsonObject = {
  cycle_id: 'cycle',
  symbol: 'BTC',
  direction: 'long',
  magnitude: 6,
  timeframe: 'swing',
  pcs_score: 80,
  cts_score: 5,
  final_score: 80,
  regime: 'BULL',
  domain_scores: {},
  domains_used: [],
  signal_ids: [],
  commitment_hash: 'hash',
  pre_cap_magnitude: 6,
  effective_conviction: 80,
  confidence: 0.8,
  coverage: 1,
  inputs: [],
  decision: { action: 'long', reasons: [] },
  domain_weights: {},
  counter_thesis: {},
}

/** Intents that are over before the one that is explained. */
const EARLIER = ['earlier-1', 'earlier-2', 'earlier-3', 'earlier-4', 'earlier-5']

/** One conviction and the intent that follows from it, behind the earlier ones. */
const decidedLog = async (earlier: readonly string[]): Promise<MemoryLog> => {
  const log = new MemoryLog()
  const intents = [...earlier, INTENT_IDS.BTC]
  await appendTo(log, 1 + intents.length, (seq) => {
    const id = intents[seq - 2]
    const common = { source: 'brain', ts: timeAt(seq) }
    if (id === undefined)
      return { ...common, id: 'conviction', type: 'brain.conviction.v1', payload: CONVICTION }
    const intent = id === INTENT_IDS.BTC ? {} : { conviction_id: id, cycle_id: 'earlier' }
    const payload = { ...intentFor('BTC'), ...intent } as unknown as JsonObject
    return { ...common, id, type: 'execution.trade_intent.v1', payload }
  })
  return log
}

let server: Awaited<ReturnType<typeof startTrading>>
afterEach(() => server.close())

/** The intent as it is explained after an operator has approved it. */
const explainedIntent = async (
  settings: TestServerOptions['settings'] = {},
  earlier: readonly string[] = [],
) => {
  server = await startTrading({ log: await decidedLog(earlier), settings })
  for (const id of earlier) {
    await server.open(id)
    await server.call('POST', '/positions/close-all', { json: {} })
  }
  const explained = async () => {
    const { body } = await server.call('GET', '/brain/explain/conviction')
    return (body as unknown as { convictions: readonly { intent: object }[] }).convictions[0]?.intent
  }
  expect(await explained()).toMatchObject({ status: 'awaiting_approval', reasons: [], sizing: null })
  await server.call('POST', `/intents/${INTENT_IDS.BTC}/approve`, { json: {} })
  return explained()
}

it('shows the numbers that led to a size', async () => {
  expect(await explainedIntent()).toMatchObject({
    status: 'filled',
    reasons: [],
    sizing: {
      probation: false,
      bound_by: ['size_pct'],
      evidence_trades: 0,
      win_chance: 0.55,
      payoff: 1.2,
      kelly_stake: 0.0875,
      kelly_usd: 743.75,
      floor_usd: 50,
      size_usd: 500,
      limits: { size_pct: 500, kelly: 743.75, position: 1000 },
    },
  })
})

it('says that a size is the floor, after losses', async () => {
  const explained = await explainedIntent({ kill_switch: { l2_loss_streak: 0 } }, EARLIER)
  expect(explained).toMatchObject({
    status: 'filled',
    reasons: ['probation_size'],
    sizing: { probation: true, bound_by: ['kelly'], kelly_stake: 0, kelly_usd: 0 },
  })
  const { sizing } = explained as { sizing: Record<string, number> }
  expect(sizing['size_usd']).toBe(sizing['floor_usd'])
  expect(sizing['evidence_trades']).toBeCloseTo(4.83, 2)
})

it('shows them for a refusal, too', async () => {
  expect(await explainedIntent({ risk: { kelly: { fraction: 0.001 } } })).toMatchObject({
    status: 'rejected',
    reasons: ['size_zero', 'below_minimum'],
    sizing: { kelly_usd: 1.4875, bound_by: ['kelly'], size_usd: null, limits: { size_pct: 500 } },
  })
})
