import { nodeId, contributorId, positionId } from '../shared/brand.ts'
import { createPublicKey, verify } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testContext } from '../../../test/given.fixture.ts'
import { testSigner } from '../../../test/signer.fixture.ts'
import type { Command } from '../decide.ts'
import type { Configuration } from '../config/schema.ts'
import { payloadOf, typesOf } from '../trading/trading.fixture.ts'
import type { State } from '../state.ts'
import { viewPendingAccruals, viewReceipts, viewTreasury } from '../views/treasury.ts'
import { usdFrom } from '../shared/money.ts'
import { accrualEvent } from './accrue.ts'
import {
  ADDRESS,
  scenarioWith,
  profit,
  receiptsOf,
  rules,
  settle,
  recordAccrual,
  WALLET,
} from './accrual.fixture.ts'
import { SETTLED_AT_ONCE_MAX } from './settle.ts'

describe('automatic settlement', () => {
  const receiptsAfter = (changes: Partial<Configuration['karma']>, created: string, now: string): number => {
    const scenario = scenarioWith(changes)
    scenario.wait(Date.parse(created) - Date.parse(scenario.now))
    recordAccrual(scenario, {})
    recordAccrual(scenario, { positionId: positionId('live'), mode: 'live' })
    scenario.wait(Date.parse(now) - Date.parse(scenario.now))
    scenario.do({ kind: 'settle-due-shares' })
    return scenario.state.treasury.receipts.size
  }
  // 2026-02-20 is a Friday.
  it.each([
    ['manual', '2026-02-20T10:00:00.000Z', '2026-02-28T00:00:00.000Z', 0],
    ['daily', '2026-02-20T10:00:00.000Z', '2026-02-20T23:59:59.999Z', 0],
    ['daily', '2026-02-20T10:00:00.000Z', '2026-02-21T00:00:00.000Z', 2],
    ['weekly', '2026-02-20T10:00:00.000Z', '2026-02-22T23:59:00.000Z', 0],
    ['weekly', '2026-02-20T10:00:00.000Z', '2026-02-23T00:00:00.000Z', 2],
    // The process was down at midnight.
    ['weekly', '2026-02-20T10:00:00.000Z', '2026-02-25T07:00:00.000Z', 2],
  ] as const)('%s: created %s, asked %s: %d receipts', (settlement_mode, created, now, receipts) => {
    expect(receiptsAfter({ settlement_mode }, created, now)).toBe(receipts)
  })

  it('happens at a threshold, in the batch that reaches it', () => {
    const scenario = scenarioWith({ settlement_mode: 'threshold', threshold_usd: 0.4 })
    recordAccrual(scenario, {})
    scenario.do({ kind: 'settle-due-shares' })
    expect(scenario.state.treasury.receipts.size).toBe(0)
    scenario.bar('BTC', 100)
    scenario.intend()
    expect(typesOf(scenario.bar('BTC', 111)).slice(-3)).toEqual([
      'karma.intent.v1',
      'karma.settlement.v1',
      'karma.receipt.v1',
    ])
    expect(scenario.state.treasury.pending.size).toBe(0)
  })

  it('is split into as many intents as one event can hold', () => {
    const scenario = scenarioWith({ settlement_mode: 'daily' })
    for (let count = 0; count <= SETTLED_AT_ONCE_MAX; count += 1)
      recordAccrual(scenario, { positionId: positionId(`p${count}`) })
    scenario.wait(86_400_000)
    scenario.do({ kind: 'settle-due-shares' })
    expect(
      viewReceipts(receiptsOf(scenario))
        .map(({ intent_ids: ids }) => ids.length)
        .toSorted((one, other) => one - other),
    ).toEqual([1, SETTLED_AT_ONCE_MAX])
  })

  it('does not happen while nothing can be settled', () => {
    expect(
      receiptsAfter(
        { settlement_mode: 'daily', enabled: false },
        '2026-02-20T10:00:00.000Z',
        '2026-02-21T00:00:00.000Z',
      ),
    ).toBe(0)
  })
})

describe('the wallet', () => {
  const migrate = (address: string, percentage: number | null = null): Command => ({
    kind: 'migrate-wallet',
    migration: { address, percentage, reason: 'new wallet', operator: 'svc-op' },
  })
  const walletOf = (state: State, changes: Partial<Configuration['karma']>) => {
    const { treasury_address: address, percentage } = viewTreasury(state.treasury, rules(changes))
    return { address, percentage }
  }

  it('follows the configuration until the first live receipt', () => {
    const scenario = scenarioWith()
    scenario.do(settle([recordAccrual(scenario, {})]))
    expect(walletOf(scenario.state, { treasury_address: '0xnew', percentage: 0.5 })).toEqual({
      address: '0xnew',
      percentage: 0.5,
    })
    expect(scenario.refusalOf(migrate('0xnew'))).toBe('karma.wallet_not_locked')
  })

  it('is locked by the first live receipt: then only a migration changes it', () => {
    const scenario = scenarioWith()
    scenario.do(settle([recordAccrual(scenario, { mode: 'live' })]))
    const elsewhere = { treasury_address: '0xevil', percentage: 1 }
    expect(walletOf(scenario.state, elsewhere)).toEqual(WALLET)
    scenario.configure({ karma: rules(elsewhere) })
    scenario.bar('BTC', 100)
    scenario.intend()
    scenario.bar('BTC', 111)
    expect(viewPendingAccruals(scenario.state.treasury)).toMatchObject([{ karma_percentage: 0.005 }])
    const [event] = scenario.do(migrate('0xnew'))
    expect(event).toMatchObject({
      type: 'karma.wallet_migration.v1',
      payload: {
        old_address: ADDRESS,
        new_address: '0xnew',
        old_percentage: 0.005,
        new_percentage: 0.005,
        reason: 'new wallet',
        authorized_by: 'svc-op',
      },
    })
    expect(scenario.do(migrate('0xnew'))).toEqual([])
    scenario.do(migrate('0xnew', 0.01))
    expect(walletOf(scenario.state, elsewhere)).toEqual({ address: '0xnew', percentage: 0.01 })
  })
})

it('anyone can verify what is owed and paid with the public key alone', () => {
  const signer = testSigner()
  const receiptSigner = {
    ...testContext(),
    nodeId: signer.nodeId,
    sign: (text: string) => Buffer.from(signer.sign(text), 'hex').toString('base64'),
  }
  const scenario = scenarioWith()
  const intent = accrualEvent(
    profit({ contributors: [{ contributorId: contributorId('c'), nodeId: nodeId('ann'), weight: 1 }] }),
    WALLET,
    receiptSigner,
  )
  if (intent?.type !== 'karma.intent.v1') throw new Error('nothing is owed')
  scenario.record(intent)
  const [shown] = viewPendingAccruals(scenario.state.treasury)
  const spki = Buffer.from(`302a300506032b6570032100${signer.publicKey}`, 'hex')
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  const isSigned = ({ signature_b64: signature, ...rest }: NonNullable<typeof shown>): boolean =>
    verify(null, Buffer.from(canonicalize(rest) ?? ''), key, Buffer.from(signature, 'base64'))
  if (shown === undefined) throw new Error('nothing is shown')
  expect(isSigned(shown)).toBe(true)
  expect(isSigned({ ...shown, karma_amount_usd: 1000 })).toBe(false)
})

it('one intent per profitable close, none for losses, and what was settled is what was owed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ up: fc.boolean(), settles: fc.boolean() }), { maxLength: 12 }),
      (trades) => {
        const scenario = scenarioWith()
        // A loss streak would end the trading.
        scenario.configure({ kill_switch: { l2_loss_streak: 0, l1_daily_loss_pct: 1 } })
        for (const { up, settles } of trades) {
          scenario.bar('BTC', 100)
          scenario.intend()
          scenario.bar('BTC', up ? 111 : 94)
          const pending = [...scenario.state.treasury.pending.keys()]
          if (settles && pending.length > 0) {
            scenario.do(settle(pending))
            expect(scenario.do(settle(pending))).toEqual([])
          }
        }
        const closes = scenario.log.filter(({ type }) => type === 'execution.position_closed.v1')
        const intents = scenario.log.filter(({ type }) => type === 'karma.intent.v1')
        const winners = closes.filter(({ payload }) => (payload['realized_pnl'] as number) > 0)
        expect(intents.map(({ payload }) => payload['trade_id'])).toEqual(
          winners.map(({ payload }) => payload['position_id']),
        )
        const amounts = new Map(
          intents.map(({ payload }) => [
            payload['intent_id'],
            usdFrom(payload['karma_amount_usd'] as number),
          ]),
        )
        for (const { total_usd: total, intent_ids: ids } of receiptsOf(scenario)) {
          expect(usdFrom(total)).toBe(ids.reduce((sum, id) => sum + (amounts.get(id) ?? 0n), 0n))
        }
        const accruedUsd = intents.reduce(
          (sum, { payload }) => sum + (payload['karma_amount_usd'] as number),
          0,
        )
        const { pending_usd: pendingUsd, settled_usd: settledUsd } = viewTreasury(
          scenario.state.treasury,
          rules(),
        )
        expect(pendingUsd + settledUsd).toBeCloseTo(accruedUsd, 6)
      },
    ),
    { numRuns: 20 },
  )
})

it('what all contributors have accrued is what the intents owe, to the last unit', () => {
  const scenario = scenarioWith()
  const names = Array.from({ length: 7 }, (_, index) => `c${index}`)
  for (const name of names) {
    scenario.record({
      type: 'contributor.registered.v1',
      source: 'api',
      payload: { contributor_id: name, node_id: name, name, role: 'curator', metadata: {} },
    })
  }
  const accruedOf = (): bigint =>
    [...scenario.state.signals.contributors.byId.values()].reduce(
      (sum, { record }) => sum + record.accrued,
      0n,
    )
  for (const [index, realized] of [49.095165, 0.0002, 0.0014, 1e6 + 1 / 3, 0.000123].entries()) {
    const before = accruedOf()
    const contributors = names
      .slice(0, 3 + index)
      .map((name) => ({ contributorId: contributorId(name), nodeId: nodeId(name), weight: 0.1 }))
    recordAccrual(scenario, {
      positionId: positionId(`p${index}`),
      realized: usdFrom(realized),
      contributors,
    })
    const { karma_amount_usd: amount } = payloadOf(scenario.log.slice(-1), 'karma.intent.v1')
    expect(accruedOf() - before).toBe(usdFrom(amount as number))
  }
})
