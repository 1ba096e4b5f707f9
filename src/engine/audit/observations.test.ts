import { expect, it } from 'vitest'
import { testClock, testSigner } from '../../../test/signer.fixture.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { configurationRecord } from '../../core/config/recorded.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import { DAMAGED_LOG } from '../../core/consequences.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import { foldingOf } from '../../core/operations/decide.ts'
import { nodeId } from '../../core/shared/brand.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { openEngine } from '../engine.fixture.ts'
import { sha256Hex } from '../sha256.ts'
import { auditDecisions } from './audit-decisions.ts'

const VERSION = '1.2.3'
const FIRST_MS = Date.parse('2026-02-20T00:00:00.000Z')

it('finds nothing different in bars that were held back, confirmed, dropped or refused, alone and among others', async () => {
  const log = new MemoryLog()
  const signer = testSigner()
  const clock = testClock(FIRST_MS + 3_600_000)
  const configuration = (): typeof DEFAULT_CONFIGURATION => DEFAULT_CONFIGURATION
  const engine = await openEngine(log, { signer, clock, configuration, version: VERSION })
  const { nodeId: node_id, publicKey: public_key } = signer
  await engine.execute({
    kind: 'start',
    started: {
      version: VERSION,
      node_id,
      public_key,
      ephemeral: false,
      integrity: {
        ok: true,
        reason: null,
        first_bad_seq: null,
      },
      folding: foldingOf(DEFAULT_CONFIGURATION),
      ...configurationRecord(DEFAULT_CONFIGURATION, sha256Hex),
    },
  })
  const at = (minute: number, symbol: string, close = 100, changes: Partial<FeedBar> = {}): FeedBar =>
    barAt(new Date(FIRST_MS + minute * 60_000).toISOString(), close, { symbol, ...changes })
  const observe = async (...bars: readonly FeedBar[]): Promise<void> => {
    const outcome = await engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
    expect(outcome.status).toBe('done')
  }
  await observe(at(0, 'BTC'), at(0, 'ETH'), at(0, 'SOL'))
  // ETH jumps and is held back; the next bar does not confirm it.
  await observe(at(1, 'BTC'), at(1, 'ETH', 200), at(1, 'SOL'))
  await observe(at(2, 'BTC'), at(2, 'ETH'), at(2, 'SOL'))
  // The price jumps twice more: the first bar is dropped and the second one held back, which the third confirms.
  await observe(at(3, 'ETH', 200), at(3, 'SOL'))
  await observe(at(4, 'BTC'), at(4, 'ETH', 400), at(4, 'SOL'))
  await observe(at(5, 'BTC'), at(5, 'ETH', 401), at(5, 'SOL'))
  // Bars that are refused, between bars that are taken.
  await observe(at(6, 'BTC'), at(5, 'ETH', 401), at(6, 'SOL'))
  await observe(at(7, 'BTC'), at(1, 'ETH'), at(7, 'SOL'))
  await observe(at(8, 'BTC'), at(8, 'ETH', -1), at(8, 'SOL'))
  await observe(at(9, 'BTC'), at(1_000_000, 'ETH', 401), at(9, 'SOL'))
  await observe(at(10, 'BTC'), at(10, 'ETH', 401, { open: 900, high: 900 }), at(10, 'SOL'))
  await observe(at(11, 'BTC'), at(11.5, 'ETH', 401), at(11, 'SOL'))
  await observe(at(11, 'BTC'))
  const jump = {
    node_id: nodeId(signer.nodeId),
    cause: 'wall_clock',
    jump_seconds: 90,
    limit_seconds: 60,
    wall_clock: timestampAt(clock.now() + 90_000),
    log_time: timestampAt(clock.now()),
  } as const
  await engine.execute({ kind: 'record-clock-jump', jump })
  await engine.execute({ kind: 'escalate', to: 3, cause: DAMAGED_LOG })
  const records = await log.read({ order: 'asc', limit: 1000 })
  const reasons = records.flatMap(({ type, payload }) =>
    type === 'system.audit.v1' ? [(JSON.parse(payload) as { reason: string }).reason] : [],
  )
  expect(new Set(reasons)).toEqual(
    new Set(['price_jump', 'repeated', 'out_of_order', 'invalid', 'in_future', 'off_grid']),
  )
  const report = await auditDecisions(log, {
    trust: { signatures, own: signer, firstHash: null },
    configuration: DEFAULT_CONFIGURATION,
    version: VERSION,
    from: null,
    to: null,
    onProgress: () => undefined,
  })
  expect(report.findings).toEqual([])
  expect(report).toMatchObject({ ok: true, different: 0, not_rerun: {} })
  await engine.close()
})
