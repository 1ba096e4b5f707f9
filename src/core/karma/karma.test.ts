import { createPublicKey, verify } from 'node:crypto'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testMoment } from '../../../test/given.ts'
import { testSigner } from '../../../test/parts.ts'
import type { Command } from '../commands.ts'
import type { Configuration } from '../config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { Desk, payloadOf, typesOf } from '../desk.contract.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { run } from '../run.ts'
import type { State } from '../state.ts'
import { viewKarmaIntents, viewKarmaReceipts, viewTreasury } from '../views/karma.ts'
import { karmaIntentEvent, type Profit } from './owe.ts'
import { SETTLED_AT_ONCE_MAX } from './settle.ts'

const ADDRESS = '0xabc'
const WALLET = { address: ADDRESS, percentage: 0.005 }
const rules = (changes: Partial<Configuration['karma']> = {}): Configuration['karma'] => ({
  ...DEFAULT_CONFIGURATION.karma,
  treasury_address: ADDRESS,
  ...changes,
})

/** A close that was told, not traded. */
const profit = (changes: Partial<Profit> = {}): Profit => ({
  positionId: 'p1',
  realizedUsd: 49.095165,
  mode: 'paper',
  contributors: [],
  ...changes,
})

const owed = (changes: Partial<Profit> = {}, wallet = WALLET): PayloadOf<'karma.intent.v1'> | null => {
  const event = karmaIntentEvent(profit(changes), wallet, testMoment())
  return event?.type === 'karma.intent.v1' ? event.payload : null
}

const tellIntent = (desk: Desk, changes: Partial<Profit>): string => {
  const payload = karmaIntentEvent(profit(changes), WALLET, { ...testMoment(), now: desk.now })?.payload
  if (payload === undefined) throw new Error('nothing is owed')
  desk.tell({ type: 'karma.intent.v1', source: 'karma', payload: payload as PayloadOf<'karma.intent.v1'> })
  return (payload as PayloadOf<'karma.intent.v1'>).intent_id
}

const settle = (intentIds: readonly string[], txHash: string | null = null): Command => ({
  kind: 'settle-karma',
  request: { intentIds, txHash },
})

const deskWith = (changes: Partial<Configuration['karma']> = {}): Desk => new Desk({ karma: rules(changes) })

describe('what a profit owes', () => {
  it('is the golden number', () => {
    expect(owed()).toMatchObject({ karma_amount_usd: 0.245476, realized_pnl_usd: 49.095165 })
  })

  it('has the id of the contract', () => {
    expect(owed({ positionId: '7a6f5fd1-3fec-8898-920c-316e45423d1a' })?.intent_id).toBe(
      '5816654f-95fc-81f1-b2b2-170ceb326439',
    )
  })

  it.each([
    ['nothing was made', { realizedUsd: 0 }, WALLET],
    ['money was lost', { realizedUsd: -12 }, WALLET],
    ['nothing is to be shared', {}, { ...WALLET, percentage: 0 }],
    ['there is no address', {}, { ...WALLET, address: '' }],
    ['the share is less than can be told', { realizedUsd: 0.0001 }, WALLET],
  ] as const)('is nothing if %s', (_why, changes, wallet) => {
    expect(owed(changes, wallet)).toBeNull()
  })

  it('is shared equally by signal', () => {
    const ann = { contributorId: 'a', nodeId: 'ann' }
    const bob = { contributorId: 'b', nodeId: 'bob' }
    const eve = { contributorId: 'e', nodeId: 'eve' }
    const sharesOf = (contributors: Profit['contributors']) =>
      owed({ contributors })?.contributors.map(({ node_id, share }) => [node_id, share])
    expect(sharesOf([])).toEqual([])
    expect(sharesOf([ann])).toEqual([['ann', 1]])
    expect(sharesOf([ann, bob, ann, ann])).toEqual([
      ['ann', 0.75],
      ['bob', 0.25],
    ])
    expect(sharesOf([ann, bob, eve])).toEqual([
      ['ann', 0.333333334],
      ['bob', 0.333333333],
      ['eve', 0.333333333],
    ])
  })
})

describe('a trade', () => {
  const trade = (desk: Desk, exit: number): readonly string[] => {
    desk.bar('BTC', 100)
    desk.intend({
      attribution: [
        { signal_id: 's1', weight: 0.6, contributor_id: 'c1', node_id: 'ann' },
        { signal_id: 's2', weight: 0.4, contributor_id: null, node_id: null },
      ],
    })
    return typesOf(desk.bar('BTC', exit))
  }

  it('that ends well owes once, in the batch of its close', () => {
    const desk = deskWith()
    expect(trade(desk, 111)).toEqual(
      expect.arrayContaining(['execution.position_closed.v1', 'learning.outcome.v1', 'karma.intent.v1']),
    )
    const closed = payloadOf(desk.log, 'execution.position_closed.v1')
    expect(viewKarmaIntents(desk.state.karma)).toMatchObject([
      {
        trade_id: closed['position_id'],
        realized_pnl_usd: closed['realized_pnl'],
        contributors: [{ contributor_id: 'c1', node_id: 'ann', share: 1 }],
        mode: 'paper',
        node_id: 'svc-test',
        created_at: desk.now,
      },
    ])
  })

  it('that ends badly owes nothing', () => {
    const desk = deskWith()
    expect(trade(desk, 94)).not.toContain('karma.intent.v1')
    expect(desk.state.karma.pending.size).toBe(0)
  })

  it.each([{ enabled: false }, { treasury_address: '' }, { percentage: 0 }])(
    'owes nothing with %j',
    (changes) => {
      expect(trade(deskWith(changes), 111)).not.toContain('karma.intent.v1')
    },
  )
})

describe('a settlement', () => {
  it('names what was paid and what was left out, and can be asked for again', () => {
    const desk = deskWith()
    const [one, two] = [tellIntent(desk, {}), tellIntent(desk, { positionId: 'p2', realizedUsd: 10 })]
    const events = desk.do(settle([two, 'x', one, two], '0xfeed'))
    expect(typesOf(events)).toEqual(['karma.settlement.v1', 'karma.receipt.v1'])
    expect(events[0]?.payload).toMatchObject({
      requested_ids: [two, 'x', one],
      intent_ids: [two, one],
      skipped: [{ id: 'x', reason: 'unknown' }],
      total_usd: 0.295476,
      mode: 'paper',
    })
    expect(viewKarmaReceipts(desk.state.karma)).toMatchObject([
      { intent_ids: [two, one], total_usd: 0.295476, tx_hash: '0xfeed', status: 'submitted' },
    ])
    expect(viewTreasury(desk.state.karma, rules())).toMatchObject({
      pending_intents: 0,
      receipts: 1,
      pending_usd: 0,
      settled_usd: 0.295476,
    })
    expect(desk.do(settle([one, 'x', two], '0xfeed'))).toEqual([])
    expect(desk.refusalOf(settle([one, two], null))).toBe('karma.settlement_rejected')
  })

  it('has the id of the contract', () => {
    const desk = deskWith()
    const id = tellIntent(desk, { positionId: '7a6f5fd1-3fec-8898-920c-316e45423d1a' })
    expect(payloadOf(desk.do(settle([id])), 'karma.receipt.v1')).toMatchObject({
      receipt_id: 'acf25989-4a62-8c6e-85e4-9409367e8155',
      status: 'pending',
    })
  })

  const refusalWith = (
    changes: Partial<Configuration['karma']>,
    ids: (pending: string, live: string, old: string) => readonly string[],
  ) => {
    const desk = deskWith()
    const old = tellIntent(desk, { positionId: 'old' })
    desk.do(settle([old]))
    const [pending, live] = [tellIntent(desk, {}), tellIntent(desk, { positionId: 'l', mode: 'live' })]
    desk.configure({ karma: rules(changes) })
    const result = run(desk.state, settle(ids(pending, live, old), '0xother'), {
      ...testMoment(),
      configuration: desk.configuration,
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

describe('settling by itself', () => {
  const receiptsAfter = (changes: Partial<Configuration['karma']>, created: string, now: string): number => {
    const desk = deskWith(changes)
    desk.wait(Date.parse(created) - Date.parse(desk.now))
    tellIntent(desk, {})
    tellIntent(desk, { positionId: 'live', mode: 'live' })
    desk.wait(Date.parse(now) - Date.parse(desk.now))
    desk.do({ kind: 'settle-due-karma' })
    return desk.state.karma.receipts.size
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
    desk.do({ kind: 'settle-due-karma' })
    expect(desk.state.karma.receipts.size).toBe(0)
    desk.bar('BTC', 100)
    desk.intend()
    expect(typesOf(desk.bar('BTC', 111)).slice(-3)).toEqual([
      'karma.intent.v1',
      'karma.settlement.v1',
      'karma.receipt.v1',
    ])
    expect(desk.state.karma.pending.size).toBe(0)
  })

  it('takes as many at once as an event can hold', () => {
    const desk = deskWith({ settlement_mode: 'daily' })
    for (let count = 0; count <= SETTLED_AT_ONCE_MAX; count += 1)
      tellIntent(desk, { positionId: `p${count}` })
    desk.wait(86_400_000)
    desk.do({ kind: 'settle-due-karma' })
    expect(
      viewKarmaReceipts(desk.state.karma)
        .map(({ intent_ids: ids }) => ids.length)
        .toSorted(),
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
    const { treasury_address: address, percentage } = viewTreasury(state.karma, rules(changes))
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
    expect(viewKarmaIntents(desk.state.karma)).toMatchObject([{ karma_percentage: 0.005 }])
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
  const notary = {
    ...testMoment(),
    nodeId: signer.nodeId,
    sign: (text: string) => Buffer.from(signer.sign(text), 'hex').toString('base64'),
  }
  const desk = deskWith()
  const intent = karmaIntentEvent(
    profit({ contributors: [{ contributorId: 'c', nodeId: 'ann' }] }),
    WALLET,
    notary,
  )
  if (intent?.type !== 'karma.intent.v1') throw new Error('nothing is owed')
  desk.tell(intent)
  const [shown] = viewKarmaIntents(desk.state.karma)
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
          const pending = [...desk.state.karma.pending.keys()]
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
        const owedUsd = intents.reduce((sum, { payload }) => sum + (payload['karma_amount_usd'] as number), 0)
        const { pending_usd: pendingUsd, settled_usd: settledUsd } = viewTreasury(desk.state.karma, rules())
        expect(pendingUsd + settledUsd).toBeCloseTo(owedUsd, 6)
      },
    ),
    { numRuns: 20 },
  )
})
