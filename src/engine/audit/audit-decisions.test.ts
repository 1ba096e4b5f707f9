import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  busyDay,
  configurationWith,
  DAY_VERSION,
  rewritten,
  simulateDay,
  type Day,
} from '../../../test/simulated-day.fixture.ts'
import type { Proposal } from '../../core/brain/propose-trade.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { accrualId, signalId } from '../../core/shared/brand.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type * as Kelly from '../../core/trading/risk/kelly.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { auditDecisions, type AuditOptions } from './audit-decisions.ts'

/** An audit with a mistake in its decision code: sizes are slightly too large. */
const withMistake = async (): Promise<typeof auditDecisions> => {
  // Vitest can only replace modules that it imports itself: those named from the root, unlike those that Node imports.
  vi.resetModules()
  vi.doMock('/src/core/trading/risk/kelly.ts', async (original) => {
    const real = await original<typeof Kelly>()
    return {
      ...real,
      kellyEstimate: (...given: Parameters<typeof real.kellyEstimate>) => {
        const kelly = real.kellyEstimate(...given)
        return { ...kelly, stake: kelly.stake * 1.001 }
      },
    }
  })
  const module: string = '/src/engine/audit/audit-decisions.ts'
  const wrong = (await import(module)) as { readonly auditDecisions: typeof auditDecisions }
  vi.doUnmock('/src/core/trading/risk/kelly.ts')
  vi.resetModules()
  return wrong.auditDecisions
}

/** Current settings that differ from those in the log, which the audit must use. */
const TODAY = configurationWith({
  execution: { stop_loss_pct: 0.3 },
  brain: { cycle_interval_seconds: 900 },
})

type SimulatedDay = Awaited<ReturnType<typeof simulateDay>>

/** A strategy with all kinds of answers, and manual settlements. The brain never finds enough domains to trade. */
const STRATEGY_SETTINGS = {
  brain: { min_domains: 6 },
  kill_switch: { l2_loss_streak: 0 },
  // Makes a small move a profit.
  execution: { paper_fee_bps: 0, paper_slippage_bps: 0, paper_funding_bps: 1 },
  // No decision reads these settings, and the log does not hold them, but they are part of the hash.
  api: { auth_token: 'a-token-of-somebody-who-runs-it', port: 5757 },
  strategies: { mine: { enabled: true } },
}

const tradeByStrategy = async (hour: number, { engine, clock }: Day): Promise<void> => {
  const propose = (proposal: Omit<Proposal, 'rule' | 'conviction'> & { readonly conviction?: number }) =>
    engine.execute({
      kind: 'propose-trade',
      proposal: { rule: 'mine', conviction: 80, ...proposal },
    })
  if (hour === 1) {
    const endpoint = 'strategy:mine'
    const producer = { name: 'mine', domain: 'technical', endpoint, schedule: '* * * * *' }
    await engine.execute({ kind: 'register-producer', producer, surface: 'system' })
    const payload = { symbol: 'SOL', direction: 'bullish', conviction: 80 }
    const row = { type: 'signal.strategy.v1', payload, ts: timestampAt(clock.now()), dedupeKey: 'call-1' }
    const report = {
      name: 'mine',
      end: 'usable',
      rows: [row],
      rejected: [],
      error: null,
      durationMs: 3,
    } as const
    const outcome = await engine.execute({ kind: 'run-producer', report })
    const call = outcome.status === 'done' ? outcome.events.find(({ type }) => type === row.type) : undefined
    await propose({
      symbol: 'BTC',
      direction: 'long',
      sizePct: 0.02,
      stopPct: 0.05,
      targetPct: null,
      trailingPct: 0.04,
      reason: 'it rose, and rose',
    })
    await propose({ symbol: 'ETH', direction: 'short', stopPct: null, targetPct: 0.2 })
    await propose({ symbol: 'SOL', direction: 'long', signalId: signalId(call?.id ?? '') })
  }
  if (hour === 2) {
    // A second after the due time, as the clock of a service usually is.
    await engine.execute({ kind: 'apply-funding', at: timestampAt(clock.now() - 1000) })
    await propose({ symbol: 'BTC', direction: 'flat' })
    // The opposite side: the exit comes first.
    await propose({ symbol: 'ETH', direction: 'long' })
    await propose({ symbol: 'ETH', direction: 'long', targetPct: 0.0005 })
  }
  const [pending] = engine.state.treasury.pending.keys()
  if (hour === 3 && pending !== undefined) {
    const request = { intentIds: [pending, accrualId('nobody')], txHash: '0xabc' }
    await engine.execute({ kind: 'settle-shares', request, status: { isRepeated: false, settledIds: [] } })
  }
}

describe('the audit of decisions', () => {
  let day: SimulatedDay
  let records: readonly LogRecord[]

  let mistaken: typeof auditDecisions
  beforeAll(async () => {
    mistaken = await withMistake()
    day = await simulateDay({ hours: 4, act: busyDay })
    records = await day.log.read({ order: 'asc', limit: 100_000 })
  })

  const audit = (log: EventLog, options: Partial<AuditOptions> = {}, audits = auditDecisions) =>
    audits(log, {
      trust: day.trust,
      configuration: TODAY,
      version: DAY_VERSION,
      from: null,
      to: null,
      onProgress: () => undefined,
      ...options,
    })

  const payloadIn = (record: LogRecord) => JSON.parse(record.payload) as JsonObject

  /** An event shortly before the end of the log, so that many decisions follow it. */
  const pick = (type: string, isMeant: (payload: JsonObject) => boolean = () => true): LogRecord => {
    const found = records.filter((record) => record.type === type && isMeant(payloadIn(record)))
    const record = found[Math.floor(found.length / 2)]
    if (record === undefined) throw new Error(`no ${type}`)
    return record
  }

  const changing = (changes: ReadonlyMap<number, JsonObject>) =>
    rewritten(day.log, day.signer, (record) => {
      const change = changes.get(record.seq)
      return change === undefined ? null : { ...payloadIn(record), ...change }
    })

  it('finds every decision of a day the same', async () => {
    const report = await audit(day.log)
    expect(report.findings).toEqual([])
    expect(report).toMatchObject({ ok: true, different: 0, not_rerun: {} })
    expect(report).toMatchObject({ decisions: records.length, batches_without_commands: 0 })
    const kinds = new Map(report.kinds.map(({ kind, same }) => [kind, same]))
    for (const kind of [
      'alert',
      'bar accepted',
      'brain cycle',
      'call',
      'conviction',
      'exit',
      'fill',
      'intent',
      'kill switch',
      'learning run',
      'order',
      'outcome of a trade',
      'position',
      'producer health',
      'regime',
      'settlement of a call',
      'signal accepted',
    ])
      expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(0)
  })

  it('names exactly what somebody with the key has changed, and nothing that followed', async () => {
    const conviction = pick('brain.conviction.v1')
    const order = pick('execution.order_submitted.v1', ({ exit_reason }) => exit_reason === null)
    const call = pick('attribution.resolved.v1')
    const pnl = pick('execution.position_closed.v1')
    const log = await changing(
      new Map<number, JsonObject>([
        [conviction.seq, { confidence: 0.987654321 }],
        [order.seq, { size_notional: 1.5 }],
        [call.seq, { hit: payloadIn(call)['hit'] !== true }],
        [pnl.seq, { realized_pnl: 99.5 }],
      ]),
    )
    const report = await audit(log)
    expect(report.ok).toBe(false)
    expect(report.findings.map(({ seq, fault }) => ({ seq, fault }))).toEqual(
      [conviction, order, call, pnl]
        .map(({ seq }) => ({ seq, fault: 'changed' }))
        .toSorted((one, other) => one.seq - other.seq),
    )
    const bySeq = new Map(report.findings.map((finding) => [finding.seq, finding.differences]))
    expect(bySeq.get(conviction.seq)).toEqual([
      { path: 'confidence', stored: 0.987654321, rerun: payloadIn(conviction)['confidence'] },
    ])
    expect(bySeq.get(order.seq)).toEqual([
      { path: 'size_notional', stored: 1.5, rerun: payloadIn(order)['size_notional'] },
    ])
    expect(bySeq.get(pnl.seq)?.map(({ path }) => path)).toEqual(['realized_pnl'])
  })

  it('finds a fill of another order', async () => {
    const fill = pick('execution.order_filled.v1')
    const renamed = await rewritten(day.log, day.signer, (record) =>
      record.seq === fill.seq ? { ...payloadIn(record), order_id: 'another' } : null,
    )
    const report = await audit(renamed)
    expect(report.findings.map(({ seq }) => seq)).toEqual([fill.seq])
  })

  it('finds a decider that decides in another way', async () => {
    const report = await audit(day.log, {}, mistaken)
    expect(report.ok).toBe(false)
    const types = new Set(report.findings.map(({ type }) => type))
    expect(types).toContain('execution.order_submitted.v1')
    expect(report.findings.every(({ type }) => type.startsWith('execution.'))).toBe(true)
  })

  it('audits a part of the log, with the settings of before', async () => {
    const cycle = pick('brain.cycle.v1')
    const report = await audit(day.log, { from: cycle.seq, to: cycle.seq + 300 })
    expect(report).toMatchObject({ ok: true, different: 0, not_rerun: {} })
    expect(report.first_seq).toBeLessThanOrEqual(cycle.seq)
    expect(report.last_seq).toBeGreaterThanOrEqual(cycle.seq + 300)
    expect(report.decisions).toBeLessThan(records.length / 2)
  })

  it('says what it cannot make again, and does not call it different', async () => {
    const forgetful = await rewritten(day.log, day.signer, (record) => {
      const { configuration: _configuration, ...payload } = payloadIn(record)
      return payload
    })
    const report = await audit(forgetful)
    expect(report).toMatchObject({ ok: true, different: 0 })
    expect(report.not_rerun['configuration not recorded']).toBeGreaterThan(10)
    const older = await audit(day.log, { version: '9.9.9' })
    expect(older).toMatchObject({ ok: true, not_rerun: {} })
    const otherwise = await audit(day.log, { version: '9.9.9' }, mistaken)
    expect(otherwise).toMatchObject({ ok: true, different: 0 })
    expect(otherwise.not_rerun[`decided by version ${DAY_VERSION}`]).toBeGreaterThan(0)
  })

  it('makes again what strategies proposed and what was shared of their profit', async () => {
    const traded = await simulateDay({ hours: 3, settings: STRATEGY_SETTINGS, act: tradeByStrategy })
    const events = await traded.log.read({ order: 'asc', limit: 100_000 })
    const ofType = (type: string) => events.filter((record) => record.type === type)
    const intents = ofType('execution.trade_intent.v1')
    expect(intents.map(({ source }) => source)).toEqual(['mine', 'mine', 'mine', 'mine'])
    const exits = ofType('execution.position_closed.v1').map((record) => payloadIn(record)['exit_reason'])
    // At least the exits of the strategy. The brain may close its own positions for the same reason.
    expect(exits.filter((reason) => reason === 'bias_flip').length).toBeGreaterThanOrEqual(2)
    expect(ofType('karma.intent.v1').length).toBeGreaterThan(0)
    expect(ofType('karma.settlement.v1')).toHaveLength(1)
    expect(ofType('execution.funding_applied.v1').length).toBeGreaterThan(0)
    expect(ofType('brain.cycle.v1').length).toBeGreaterThan(10)
    const auditOf = (log: EventLog) => audit(log, { trust: traded.trust })
    const report = await auditOf(traded.log)
    expect(report.findings).toEqual([])
    expect(report).toMatchObject({ ok: true, not_rerun: {} })
    expect(report).toMatchObject({ decisions: events.length, batches_without_commands: 0 })
    // An insider with the key increases the leverage of a trade and the share that is paid.
    const [intent, share] = [intents[1], ofType('karma.intent.v1')[0]]
    const changed = await rewritten(traded.log, traded.signer, (record) => {
      if (record.seq === intent?.seq) return { ...payloadIn(record), leverage: 5 }
      return record.seq === share?.seq ? { ...payloadIn(record), karma_amount_usd: 99 } : null
    })
    const found = (await auditOf(changed)).findings
    expect(found.find(({ seq }) => seq === intent?.seq)).toMatchObject({
      fault: 'changed',
      differences: [{ path: 'leverage', stored: 5 }],
    })
    expect(found.find(({ seq }) => seq === share?.seq)).toMatchObject({ fault: 'changed' })
  })
})
