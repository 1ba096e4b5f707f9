import { createPublicKey, verify } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testContext } from '../../../test/given.ts'
import { testSigner } from '../../../test/parts.ts'
import type { Command } from '../decide.ts'
import type { Configuration } from '../config/schema.ts'
import { typesOf } from '../trading/trading.fixture.ts'
import type { State } from '../state.ts'
import { viewPendingAccruals, viewReceipts, viewTreasury } from '../views/treasury.ts'
import { usdFrom } from '../shared/money.ts'
import { accrualEvent } from './accrue.ts'
import {
  ADDRESS,
  deskWith,
  profit,
  receiptsOf,
  rules,
  settle,
  tellIntent,
  WALLET,
} from './accrual.fixture.ts'
import { SETTLED_AT_ONCE_MAX } from './settle.ts'

describe('settling by itself', () => {
  const receiptsAfter = (changes: Partial<Configuration['karma']>, created: string, now: string): number => {
    const desk = deskWith(changes)
    desk.wait(Date.parse(created) - Date.parse(desk.now))
    tellIntent(desk, {})
    tellIntent(desk, { positionId: 'live', mode: 'live' })
    desk.wait(Date.parse(now) - Date.parse(desk.now))
    desk.do({ kind: 'settle-due-shares' })
    return desk.state.treasury.receipts.size
  }
  // 2026-02-20 is a Friday.
  it.each([
    ['manual', '2026-02-20T10:00:00.000Z', '2026-02-28T00:00:00.000Z', 0],
    ['daily', '2026-02-20T10:00:00.000Z', '2026-02-20T23:59:59.999Z', 0],
    ['daily', '2026-02-20T10:00:00.000Z', '2026-02-21T00:00:00.000Z', 2],
    ['weekly', '2026-02-20T10:00:00.000Z', '2026-02-22T23:59:00.000Z', 0],
    ['weekly', '2026-02-20T10:00:00.000Z', '2026-02-23T00:00:00.000Z', 2],
    // Nobody was there at midnight.
    ['weekly', '2026-02-20T10:00:00.000Z', '2026-02-25T07:00:00.000Z', 2],
  ] as const)('%s: created %s, asked %s: %d receipts', (settlement_mode, created, now, receipts) => {
    expect(receiptsAfter({ settlement_mode }, created, now)).toBe(receipts)
  })

  it('at a threshold, in the batch that reaches it', () => {
    const desk = deskWith({ settlement_mode: 'threshold', threshold_usd: 0.4 })
    tellIntent(desk, {})
    desk.do({ kind: 'settle-due-shares' })
    expect(desk.state.treasury.receipts.size).toBe(0)
    desk.bar('BTC', 100)
    desk.intend()
    expect(typesOf(desk.bar('BTC', 111)).slice(-3)).toEqual([
      'karma.intent.v1',
      'karma.settlement.v1',
      'karma.receipt.v1',
    ])
    expect(desk.state.treasury.pending.size).toBe(0)
  })

  it('takes as many at once as an event can hold', () => {
    const desk = deskWith({ settlement_mode: 'daily' })
    for (let count = 0; count <= SETTLED_AT_ONCE_MAX; count += 1)
      tellIntent(desk, { positionId: `p${count}` })
    desk.wait(86_400_000)
    desk.do({ kind: 'settle-due-shares' })
    expect(
      viewReceipts(receiptsOf(desk))
        .map(({ intent_ids: ids }) => ids.length)
        .toSorted((one, other) => one - other),
    ).toEqual([1, SETTLED_AT_ONCE_MAX])
  })

  it('waits on while nothing can be settled', () => {
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

  it('follows the configuration until money has moved for real', () => {
    const desk = deskWith()
    desk.do(settle([tellIntent(desk, {})]))
    expect(walletOf(desk.state, { treasury_address: '0xnew', percentage: 0.5 })).toEqual({
      address: '0xnew',
      percentage: 0.5,
    })
    expect(desk.refusalOf(migrate('0xnew'))).toBe('karma.wallet_not_locked')
  })

  it('is locked by the first live receipt: then only a migration changes it', () => {
    const desk = deskWith()
    desk.do(settle([tellIntent(desk, { mode: 'live' })]))
    const elsewhere = { treasury_address: '0xevil', percentage: 1 }
    expect(walletOf(desk.state, elsewhere)).toEqual(WALLET)
    desk.configure({ karma: rules(elsewhere) })
    desk.bar('BTC', 100)
    desk.intend()
    desk.bar('BTC', 111)
    expect(viewPendingAccruals(desk.state.treasury)).toMatchObject([{ karma_percentage: 0.005 }])
    const [event] = desk.do(migrate('0xnew'))
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
    expect(desk.do(migrate('0xnew'))).toEqual([])
    desk.do(migrate('0xnew', 0.01))
    expect(walletOf(desk.state, elsewhere)).toEqual({ address: '0xnew', percentage: 0.01 })
  })
})

it('anyone can verify what is owed and paid with the public key alone', () => {
  const signer = testSigner()
  const receiptSigner = {
    ...testContext(),
    nodeId: signer.nodeId,
    sign: (text: string) => Buffer.from(signer.sign(text), 'hex').toString('base64'),
  }
  const desk = deskWith()
  const intent = accrualEvent(
    profit({ contributors: [{ contributorId: 'c', nodeId: 'ann' }] }),
    WALLET,
    receiptSigner,
  )
  if (intent?.type !== 'karma.intent.v1') throw new Error('nothing is owed')
  desk.tell(intent)
  const [shown] = viewPendingAccruals(desk.state.treasury)
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
        const desk = deskWith()
        // Losses in a row would end the trading.
        desk.configure({ kill_switch: { l2_loss_streak: 0, l1_daily_loss_pct: 1 } })
        for (const { up, settles } of trades) {
          desk.bar('BTC', 100)
          desk.intend()
          desk.bar('BTC', up ? 111 : 94)
          const pending = [...desk.state.treasury.pending.keys()]
          if (settles && pending.length > 0) {
            desk.do(settle(pending))
            expect(desk.do(settle(pending))).toEqual([])
          }
        }
        const closes = desk.log.filter(({ type }) => type === 'execution.position_closed.v1')
        const intents = desk.log.filter(({ type }) => type === 'karma.intent.v1')
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
        for (const { total_usd: total, intent_ids: ids } of receiptsOf(desk)) {
          expect(usdFrom(total)).toBe(ids.reduce((sum, id) => sum + (amounts.get(id) ?? 0n), 0n))
        }
        const owedUsd = intents.reduce((sum, { payload }) => sum + (payload['karma_amount_usd'] as number), 0)
        const { pending_usd: pendingUsd, settled_usd: settledUsd } = viewTreasury(
          desk.state.treasury,
          rules(),
        )
        expect(pendingUsd + settledUsd).toBeCloseTo(owedUsd, 6)
      },
    ),
    { numRuns: 20 },
  )
})
