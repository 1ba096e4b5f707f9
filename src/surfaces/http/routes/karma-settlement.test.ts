import { createPublicKey, verify } from 'node:crypto'
import canonicalize from 'canonicalize'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { barAt } from '../../../core/market/bars.fixture.ts'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { INTENT_IDS, logWithIntents, startTrading } from '../trading.fixture.ts'

type Trading = Awaited<ReturnType<typeof startTrading>>
type Item = Record<string, unknown> & { readonly id: string; readonly signature_b64: string }

const ADDRESS = '0xabc'
const settings = { karma: { treasury_address: ADDRESS } }

let server: Trading
beforeEach(async () => {
  const log = await logWithIntents()
  await appendTo(log, 1, () => ({
    type: 'karma.intent.v1',
    source: 'karma',
    payload: {
      intent_id: 'live-intent',
      trade_id: 'live-trade',
      node_id: 'svc-1',
      realized_pnl_usd: 100,
      karma_percentage: 0.005,
      karma_amount_usd: 0.5,
      contributors: [],
      mode: 'live',
      signature_b64: '',
      created_at: '2026-02-19T00:00:00.000Z',
    },
  }))
  server = await startTrading({ log, settings })
})
afterEach(() => server.close())

const items = async (path: string): Promise<readonly Item[]> =>
  (await server.call('GET', path)).body['items'] as readonly Item[]
const settle = (intent_ids: readonly string[], tx_hash: string | null = null) =>
  server.call('POST', '/karma/settle', { json: { intent_ids, tx_hash } })
const migrate = (json: object) => server.call('POST', '/karma/migrate-wallet', { json })
const headSeq = async () => (await server.log.head()).seq

/** Makes a profitable trade, and returns the id of the karma it owes. */
const profit = async (): Promise<string> => {
  await server.open(INTENT_IDS.BTC)
  server.testClock.advance(60_000)
  const bars = [barAt('2026-02-20T00:30:00.000Z', 111, { open: 111, high: 111, low: 111 })]
  await server.engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
  const accrued = (await items('/karma/intents')).find(({ mode }) => mode === 'paper')
  if (accrued === undefined) throw new Error('nothing is owed')
  return accrued.id
}

describe('a settlement', () => {
  it('is answered the same way as often as it is asked for, and written once', async () => {
    const id = await profit()
    const first = await settle([id, 'x'])
    expect([first.status, first.body]).toMatchObject([
      200,
      {
        receipt: { intent_ids: [id], destination_wallet: ADDRESS, status: 'pending', tx_hash: null },
        skipped: [{ id: 'x', reason: 'unknown' }],
      },
    ])
    expect((await server.auditEntries()).at(-1)).toMatchObject({
      resource: '/karma/settle',
      outcome: 'allowed',
    })
    const seq = await headSeq()
    expect((await settle(['x', id, 'x'])).body).toEqual(first.body)
    expect(await headSeq()).toBe(seq)
    const again = await settle([id], '0xfeed')
    expectProblem(again, 'karma.settlement_rejected', 400)
    expect(again.body['skipped']).toEqual([{ id, reason: 'already_settled' }])
    expect(await items('/karma/receipts')).toEqual([first.body['receipt']])
    expect((await server.call('GET', '/treasury')).body).toMatchObject({
      pending_intents: 1,
      pending_usd: 0.5,
      receipts: 1,
    })
  })

  it('is of one mode', async () => {
    expectProblem(await settle([await profit(), 'live-intent']), 'karma.settlement_rejected', 400)
  })

  it('takes only so much at once', async () => {
    const many = Array.from({ length: 251 }, (_, index) => `x${index}`)
    const answer = await settle(many)
    expectProblem(answer, 'karma.settlement_rejected', 400)
    expect(answer.body['errors']).toMatchObject([{ loc: ['body', 'intent_ids'], type: 'too_large' }])
    expect((await settle(['x'.repeat(65)])).body['errors']).toMatchObject([{ type: 'string_too_long' }])
  })

  it('can be verified by anyone who has the public key', async () => {
    const id = await profit()
    await settle([id])
    const [receipt] = await items('/karma/receipts')
    const stored = await server.call('GET', '/events?type=karma.intent&limit=1')
    const [{ payload }] = stored.body['items'] as [{ payload: Record<string, unknown> }]
    const { intent_id: _stored, ...members } = payload
    const started = await server.call('GET', '/events?type=system.started&limit=1')
    const [{ payload: node }] = started.body['items'] as [{ payload: { public_key: string } }]
    const key = createPublicKey({
      key: Buffer.from(`302a300506032b6570032100${node.public_key}`, 'hex'),
      format: 'der',
      type: 'spki',
    })
    for (const { signature_b64: signature, ...shown } of [receipt as Item, { id, ...members } as Item]) {
      const text = Buffer.from(canonicalize(shown) ?? '')
      expect(verify(null, text, key, Buffer.from(signature, 'base64'))).toBe(true)
    }
  })
})

describe('the wallet', () => {
  it('cannot be migrated while it can be configured', async () => {
    expectProblem(await migrate({ address: '0xnew', reason: 'x' }), 'karma.wallet_not_locked', 409)
  })

  it('is locked by a live receipt, and changed by a migration alone', async () => {
    expect((await settle(['live-intent'], '0xfeed')).status).toBe(200)
    const wanted = { karma: { treasury_address: '0xevil', percentage: 1 } }
    for (const path of ['/config', '/config/validate']) {
      const answer = await server.call('POST', path, { json: wanted })
      expectProblem(answer, 'config.invalid', 400)
      expect(answer.body['errors']).toMatchObject([
        { loc: ['body', 'karma', 'percentage'], type: 'conflict' },
        { loc: ['body', 'karma', 'treasury_address'], type: 'conflict' },
      ])
    }
    expect(
      (await migrate({ address: ' 0xnew ', percentage: 0.01, reason: 'new device' })).body,
    ).toMatchObject({
      treasury_address: '0xnew',
      percentage: 0.01,
    })
    expect((await server.auditEntries()).at(-1)).toMatchObject({ resource: '/karma/migrate-wallet' })
    const seq = await headSeq()
    expect((await migrate({ address: '0xnew', reason: 'again' })).status).toBe(200)
    expect(await headSeq()).toBe(seq)
    const [event] = await server.log.read({ types: ['karma.wallet_migration'], order: 'desc', limit: 1 })
    expect(JSON.parse(event?.payload ?? '')).toEqual({
      old_address: ADDRESS,
      new_address: '0xnew',
      old_percentage: 0.005,
      new_percentage: 0.01,
      reason: 'new device',
      authorized_by: server.engine.nodeId,
    })
    // The configuration accepts the values that the migration set.
    const matching = { karma: { treasury_address: '0xnew', percentage: 0.01 } }
    expect((await server.call('POST', '/config', { json: matching })).status).toBe(200)
  })

  it.each([
    [{ reason: 'x' }, 'address', 'missing'],
    [{ address: '', reason: 'x' }, 'address', 'string_too_short'],
    [{ address: 'x'.repeat(129), reason: 'x' }, 'address', 'string_too_long'],
    [{ address: 'x', percentage: 1.1, reason: 'x' }, 'percentage', 'less_than_equal'],
    [{ address: 'x' }, 'reason', 'missing'],
  ] as const)('is not migrated with %j', async (json, member, type) => {
    expectFault(await migrate(json), ['body', member], type)
  })
})
