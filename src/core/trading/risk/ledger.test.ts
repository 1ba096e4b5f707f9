import { canonicalSymbol } from '../../shared/symbol.ts'
import { timestampOf, positionId } from '../../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import type { KnownEvent } from '../../events/catalogue.ts'
import { equityOf } from './account.ts'
import { closesOf, evolveLedger, INITIAL_LEDGER, type Ledger } from './ledger.ts'
import { TradingScenario } from '../trading.fixture.ts'
import { usdFrom } from '../../shared/money.ts'

const started = (start_balance_usd?: number) => ({
  version: '1',
  node_id: 'svc-1',
  public_key: 'ab',
  ephemeral: false,
  integrity: { ok: true, reason: null, first_bad_seq: null },
  folding: {
    analysis_bar_seconds: 900,
    variance_decay: 0.97,
    link_window_seconds: 600,
    ...(start_balance_usd === undefined ? {} : { start_balance_usd }),
  },
})

describe('the account', () => {
  it('begins with what the configuration says, and is no drawdown for it', () => {
    const scenario = new TradingScenario()
    scenario.do({ kind: 'start', started: started(2500) })
    expect(equityOf(scenario.state.trading)).toBe(usdFrom(2500))
    scenario.bar('BTC', 100)
    scenario.bar('BTC', 100)
    expect(scenario.state.trading.risk.peak).toBe(usdFrom(2500))
    expect(scenario.state.trading.killSwitch.level).toBe(0)
  })

  it('begins with 10000 if nobody says so', () => {
    const scenario = new TradingScenario()
    scenario.do({ kind: 'start', started: started() })
    expect(equityOf(scenario.state.trading)).toBe(usdFrom(10_000))
  })

  it('keeps its beginning once something was traded', () => {
    const scenario = new TradingScenario()
    scenario.bar('BTC', 100)
    scenario.intend()
    const before = equityOf(scenario.state.trading)
    scenario.do({ kind: 'start', started: started(1) })
    expect(equityOf(scenario.state.trading)).toBe(before)
  })

  it('remembers the last 50 closes, and a streak that a tiny result does not break', () => {
    let ledger = INITIAL_LEDGER
    const close = (realized_pnl: number): void => {
      ledger = evolveLedger(ledger, closedWith(realized_pnl), PersistentMap())
    }
    const streaks = [-1, -0.01, -0.009, 0.009, -2, 0.01].map((net) => {
      close(net)
      return ledger.lossStreak
    })
    expect(streaks).toEqual([1, 2, 2, 2, 3, 0])
    for (let count = 0; count < 60; count += 1) close(1)
    expect(ledger.closes).toHaveLength(50)
  })

  it('remembers the last 50 closes of the brain and of each strategy', () => {
    const closes = (by: string | undefined, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        at: timestampOf('2026-02-20T00:00:00.000Z'),
        net: usdFrom(index),
        netReturn: index,
        ...(by === undefined ? {} : { by }),
      }))
    let ledger: Ledger = { ...INITIAL_LEDGER, closes: [...closes('busy', 50), ...closes('calm', 3)] }
    ledger = evolveLedger(ledger, closedWith(1), PersistentMap())
    expect(ledger.closes).toHaveLength(54)
    ledger = { ...ledger, closes: [...ledger.closes, ...closes(undefined, 49)] }
    ledger = evolveLedger(ledger, closedWith(1), PersistentMap())
    expect(closesOf(ledger.closes, undefined)).toHaveLength(50)
    expect(closesOf(ledger.closes, 'busy')).toHaveLength(50)
    expect(closesOf(ledger.closes, 'calm')).toHaveLength(3)
  })
})

const closedWith = (realized_pnl: number): KnownEvent => {
  const ts = timestampOf('2026-02-20T00:00:00.000Z')
  return {
    seq: 1,
    id: 'e',
    ts,
    recordedAt: ts,
    traceId: null,
    dedupeKey: null,
    type: 'execution.position_closed.v1',
    source: 'oms',
    payload: {
      position_id: positionId('p'),
      asset: canonicalSymbol('BTC'),
      exit_price: 1,
      realized_pnl,
      realized_pnl_pct: 0,
      fees_usd: 0,
      exit_reason: 'manual',
      mode: 'paper',
      gross_pnl: realized_pnl,
      funding_usd: 0,
      trigger: null,
      max_adverse_pct: 0,
      max_favorable_pct: 0,
    },
  }
}
