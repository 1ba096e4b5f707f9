import fc from 'fast-check'
import { usdFrom } from '../shared/money.ts'
import { positionId, contributorId, nodeId } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { testContext } from '../../../test/given.fixture.ts'
import type { Configuration } from '../config/schema.ts'
import { payloadOf, typesOf, type TradingScenario } from '../trading/trading.fixture.ts'
import type { NewPayload } from '../events/catalogue.ts'
import { run } from '../run.ts'
import { viewPendingAccruals, viewReceipts, viewTreasury } from '../views/treasury.ts'
import { accrualEvent, type Profit } from './accrue.ts'
import { scenarioWith, profit, receiptsOf, rules, settle, recordAccrual, WALLET } from './accrual.fixture.ts'

const accrued = (changes: Partial<Profit> = {}, wallet = WALLET): NewPayload<'karma.intent.v1'> | null => {
  const event = accrualEvent(profit(changes), wallet, testContext())
  return event?.type === 'karma.intent.v1' ? event.payload : null
}

describe('the share of a profit', () => {
  it('is the golden number', () => {
    expect(accrued()).toMatchObject({ karma_amount_usd: 0.245476, realized_pnl_usd: 49.095165 })
  })

  it('has the id of the contract', () => {
    expect(accrued({ positionId: positionId('7a6f5fd1-3fec-8898-920c-316e45423d1a') })?.intent_id).toBe(
      '5816654f-95fc-81f1-b2b2-170ceb326439',
    )
  })

  it.each([
    ['the profit is zero', { realized: usdFrom(0) }, WALLET],
    ['the trade lost money', { realized: usdFrom(-12) }, WALLET],
    ['the percentage is zero', {}, { ...WALLET, percentage: 0 }],
    ['there is no address', {}, { ...WALLET, address: '' }],
    ['the share rounds to zero', { realized: usdFrom(0.0001) }, WALLET],
  ] as const)('is nothing if %s', (_why, changes, wallet) => {
    expect(accrued(changes, wallet)).toBeNull()
  })

  const credited = (id: string) => (weight: number) => ({
    contributorId: contributorId(id),
    nodeId: nodeId(`node of ${id}`),
    weight,
  })
  const [ann, bob, eve] = [credited('ann'), credited('bob'), credited('eve')]
  const sharesOf = (contributors: Profit['contributors']) =>
    accrued({ contributors })?.contributors.map(({ contributor_id, share }) => [contributor_id, share])

  it('is shared by what each contributed to the decision', () => {
    expect(sharesOf([])).toEqual([])
    expect(sharesOf([ann(0.2)])).toEqual([['ann', 1]])
    expect(sharesOf([ann(0.3), bob(0.1), ann(0.2), ann(0.2)])).toEqual([
      ['ann', 0.875],
      ['bob', 0.125],
    ])
    expect(sharesOf([ann(0.1), bob(0.1), eve(0.1)])).toEqual([
      ['ann', 0.333333334],
      ['bob', 0.333333333],
      ['eve', 0.333333333],
    ])
  })

  it('does not halve because somebody repeats the call at once', () => {
    expect(sharesOf([ann(0.49), bob(0.01)])).toEqual([
      ['ann', 0.98],
      ['bob', 0.02],
    ])
    expect(sharesOf([ann(0.49), bob(0)])).toEqual([
      ['ann', 1],
      ['bob', 0],
    ])
  })

  it('is shared equally by signal where an old intent knows no weights', () => {
    expect(sharesOf([ann(0), bob(0), ann(0), ann(0)])).toEqual([
      ['ann', 0.75],
      ['bob', 0.25],
    ])
    expect(sharesOf([ann(0), bob(0), eve(0)])).toEqual([
      ['ann', 0.333333334],
      ['bob', 0.333333333],
      ['eve', 0.333333333],
    ])
  })

  it('has shares that add up to exactly 1, in proportion to the weights', () => {
    const all = fc.array(
      fc.record({ id: fc.integer({ min: 0, max: 30 }), weight: fc.integer({ min: 0, max: 1e9 }) }),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(all, (signals) => {
        const total = signals.reduce((sum, { weight }) => sum + weight, 0)
        const shares = sharesOf(signals.map(({ id, weight }) => credited(`c${id}`)(weight / 1e9))) ?? []
        const billionths = shares.map(([, share]) => Math.round(Number(share) * 1e9))
        expect(billionths.reduce((sum, own) => sum + own, 0)).toBe(1e9)
        for (const [id, share] of shares) {
          const own = signals.filter((one) => `c${one.id}` === id)
          const weight = own.reduce((sum, one) => sum + one.weight, 0)
          const expected = total === 0 ? own.length / signals.length : weight / total
          expect(Math.abs(Number(share) - expected)).toBeLessThan(2e-9)
        }
      }),
    )
  })
})

describe('a trade', () => {
  const trade = (scenario: TradingScenario, exit: number): readonly string[] => {
    scenario.bar('BTC', 100)
    scenario.intend({
      attribution: [
        { signal_id: 's1', weight: 0.6, contributor_id: 'c1', node_id: 'ann' },
        { signal_id: 's2', weight: 0.4, contributor_id: null, node_id: null },
      ],
    })
    return typesOf(scenario.bar('BTC', exit))
  }

  it('with a profit accrues a share once, in the batch of its close', () => {
    const scenario = scenarioWith()
    expect(trade(scenario, 111)).toEqual(
      expect.arrayContaining(['execution.position_closed.v1', 'learning.outcome.v1', 'karma.intent.v1']),
    )
    const closed = payloadOf(scenario.log, 'execution.position_closed.v1')
    expect(viewPendingAccruals(scenario.state.treasury)).toMatchObject([
      {
        trade_id: closed['position_id'],
        realized_pnl_usd: closed['realized_pnl'],
        contributors: [{ contributor_id: 'c1', node_id: 'ann', share: 1 }],
        mode: 'paper',
        node_id: 'svc-test',
        created_at: scenario.now,
      },
    ])
  })

  it('with a loss accrues nothing', () => {
    const scenario = scenarioWith()
    expect(trade(scenario, 94)).not.toContain('karma.intent.v1')
    expect(scenario.state.treasury.pending.size).toBe(0)
  })

  it.each([{ enabled: false }, { treasury_address: '' }, { percentage: 0 }])(
    'owes nothing with %j',
    (changes) => {
      expect(trade(scenarioWith(changes), 111)).not.toContain('karma.intent.v1')
    },
  )
})

describe('a settlement', () => {
  it('lists settled and skipped intents, and a repeated request has the same receipt', () => {
    const scenario = scenarioWith()
    const [one, two] = [
      recordAccrual(scenario, {}),
      recordAccrual(scenario, { positionId: positionId('p2'), realized: usdFrom(10) }),
    ]
    const events = scenario.do(settle([two, 'x', one, two], '0xfeed'))
    expect(typesOf(events)).toEqual(['karma.settlement.v1', 'karma.receipt.v1'])
    expect(events[0]?.payload).toMatchObject({
      requested_ids: [two, 'x', one],
      intent_ids: [two, one],
      skipped: [{ id: 'x', reason: 'unknown' }],
      total_usd: 0.295476,
      mode: 'paper',
    })
    expect(viewReceipts(receiptsOf(scenario))).toMatchObject([
      { intent_ids: [two, one], total_usd: 0.295476, tx_hash: '0xfeed', status: 'submitted' },
    ])
    expect(viewTreasury(scenario.state.treasury, rules())).toMatchObject({
      pending_intents: 0,
      receipts: 1,
      pending_usd: 0,
      settled_usd: 0.295476,
    })
    expect(scenario.do(settle([one, 'x', two], '0xfeed'))).toEqual([])
    expect(scenario.refusalOf(settle([one, two], null))).toBe('karma.settlement_rejected')
  })

  it('has the id of the contract', () => {
    const scenario = scenarioWith()
    const id = recordAccrual(scenario, { positionId: positionId('7a6f5fd1-3fec-8898-920c-316e45423d1a') })
    expect(payloadOf(scenario.do(settle([id])), 'karma.receipt.v1')).toMatchObject({
      receipt_id: 'acf25989-4a62-8c6e-85e4-9409367e8155',
      status: 'pending',
    })
  })

  const refusalWith = (
    changes: Partial<Configuration['karma']>,
    ids: (pending: string, live: string, old: string) => readonly string[],
  ) => {
    const scenario = scenarioWith()
    const old = recordAccrual(scenario, { positionId: positionId('old') })
    scenario.do(settle([old]))
    const [pending, live] = [
      recordAccrual(scenario, {}),
      recordAccrual(scenario, { positionId: positionId('l'), mode: 'live' }),
    ]
    scenario.configure({ karma: rules(changes) })
    const result = run(scenario.state, settle(ids(pending, live, old), '0xother'), {
      ...testContext(),
      configuration: scenario.configuration,
    })
    return result.status === 'refused' ? result.refusal : null
  }

  it.each([
    ['nothing was named', {}, () => [], []],
    ['nothing is known', {}, () => ['x'], ['unknown']],
    ['all is settled', {}, (_p: string, _l: string, old: string) => [old], ['already_settled']],
    ['karma is disabled', { enabled: false }, (pending: string) => [pending], []],
    ['there is no address', { treasury_address: '' }, (pending: string) => [pending, 'x'], ['unknown']],
    ['both modes are mixed', {}, (pending: string, live: string) => [pending, live], []],
  ] as const)('is rejected when %s', (_why, changes, ids, reasons) => {
    const refusal = refusalWith(changes, ids)
    expect(refusal?.code).toBe('karma.settlement_rejected')
    expect(refusal?.extras['skipped']).toMatchObject(reasons.map((reason) => ({ reason })))
  })
})
