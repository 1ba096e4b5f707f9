import {
  timestampOf,
  receiptId,
  accrualId,
  nodeId,
  contributorId,
  positionId,
  type AccrualId,
  type ReceiptId,
} from '../shared/brand.ts'
import { type Usd } from '../shared/money.ts'
import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import {
  INITIAL_TREASURY,
  type TreasuryState,
  type ShareAccrual,
  type SettlementReceipt,
} from '../treasury/evolve.ts'
import {
  shareAccrualView,
  receiptView,
  viewPendingAccruals,
  viewReceipts,
  viewSettlement,
  viewTreasury,
} from './treasury.ts'

const intent = (id: string, createdAt: string, amountUsd: number): [AccrualId, ShareAccrual] => [
  accrualId(id),
  {
    intent_id: accrualId(id),
    trade_id: positionId('trade'),
    node_id: nodeId('svc-1'),
    realized_pnl_usd: 73.5,
    karma_percentage: 0.005,
    karma_amount_usd: amountUsd,
    contributors: [{ contributor_id: contributorId('c1'), node_id: nodeId('n1'), share: 1 }],
    mode: 'paper',
    signature_b64: 'c2ln',
    created_at: timestampOf(createdAt),
  },
]

const receipt = (id: string, createdAt: string, totalUsd: number): [ReceiptId, SettlementReceipt] => [
  receiptId(id),
  {
    receipt: {
      receipt_id: receiptId(id),
      intent_ids: [accrualId('x')],
      total_usd: totalUsd,
      destination_wallet: '0xabc',
      tx_hash: null,
      status: 'pending',
      mode: 'paper',
      node_id: nodeId('svc-1'),
      signature_b64: 'c2ln',
      created_at: timestampOf(createdAt),
    },
    skipped: [{ id: accrualId('y'), reason: 'unknown' }],
  },
]

const DAY_1 = timestampOf('2026-02-20T00:00:00.000Z')
const DAY_2 = timestampOf('2026-02-21T00:00:00.000Z')

const karma: TreasuryState = {
  ...INITIAL_TREASURY,
  pending: PersistentMap([intent('c', DAY_2, 0.1), intent('b', DAY_1, 0.2), intent('a', DAY_1, 0.3675)]),
  pendingUsd: 667_500n as Usd,
  receiptOfIntent: PersistentMap([[accrualId('x'), receiptId('q')]]),
  receipts: PersistentMap([receipt('q', DAY_1, 1.1), receipt('r', DAY_2, 2.2)]),
  receiptIds: [receiptId('q'), receiptId('r')],
  receiptCount: 2,
  settledUsd: 3_300_000n as Usd,
}

describe('karma as it is shown', () => {
  it('lists what is owed, oldest first', () => {
    const shown = viewPendingAccruals(karma)
    expect(shown.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(shown[0]).toEqual({
      id: 'a',
      trade_id: 'trade',
      node_id: 'svc-1',
      realized_pnl_usd: 73.5,
      karma_percentage: 0.005,
      karma_amount_usd: 0.3675,
      contributors: [{ contributor_id: 'c1', node_id: 'n1', share: 1 }],
      mode: 'paper',
      signature_b64: 'c2ln',
      created_at: DAY_1,
    })
    expect(shareAccrualView.parse(shown[0])).toEqual(shown[0])
  })

  it('lists receipts, newest first', () => {
    const shown = viewReceipts([...karma.receipts.values()].map(({ receipt: one }) => one))
    expect(shown.map(({ id }) => id)).toEqual(['r', 'q'])
    expect(shown[1]).toEqual({
      id: 'q',
      intent_ids: ['x'],
      total_usd: 1.1,
      destination_wallet: '0xabc',
      tx_hash: null,
      status: 'pending',
      mode: 'paper',
      node_id: 'svc-1',
      signature_b64: 'c2ln',
      created_at: DAY_1,
    })
    expect(receiptView.parse(shown[1])).toEqual(shown[1])
  })

  it('says of a settlement what it left out', () => {
    const found = karma.receipts.get(receiptId('q'))
    expect(found && viewSettlement(found)).toMatchObject({
      receipt: { id: 'q', total_usd: 1.1 },
      skipped: [{ id: 'y', reason: 'unknown' }],
    })
  })

  it('adds up without dust', () => {
    const settings = { ...DEFAULT_CONFIGURATION.karma, treasury_address: '0xabc' }
    expect(viewTreasury(karma, settings)).toEqual({
      enabled: true,
      percentage: 0.005,
      treasury_address: '0xabc',
      pending_intents: 3,
      receipts: 2,
      pending_usd: 0.6675,
      settled_usd: 3.3,
    })
  })
})
