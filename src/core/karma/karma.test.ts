import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { INITIAL_KARMA, settleable, type Karma, type KarmaIntent } from './karma.ts'

const RULES = { enabled: true, treasuryAddress: '0xabc' }

const intent = (id: string, mode: 'paper' | 'live' = 'paper'): [string, KarmaIntent] => [
  id,
  {
    id,
    tradeId: `trade of ${id}`,
    nodeId: 'svc-1',
    realizedPnlUsd: 73.5,
    percentage: 0.005,
    amountUsd: 0.3675,
    contributors: [],
    mode,
    signatureBase64: '',
    createdAt: '2026-02-20T00:30:00.000Z',
  },
]

const karma: Karma = {
  ...INITIAL_KARMA,
  pending: PersistentMap([intent('a'), intent('b'), intent('live', 'live')]),
  receiptOfIntent: PersistentMap([['old', 'receipt-1']]),
}

describe('a settlement', () => {
  it('is of what is pending, and says what it leaves out', () => {
    expect(settleable(karma, ['b', 'x', 'a', 'old', 'a', 'x'], RULES)).toMatchObject({
      status: 'settleable',
      intents: [{ id: 'b' }, { id: 'a' }],
      skipped: [
        { id: 'x', reason: 'unknown' },
        { id: 'old', reason: 'already_settled' },
      ],
    })
  })

  it.each([
    ['nothing was named', karma, [], RULES, []],
    ['nothing is pending', INITIAL_KARMA, ['a'], RULES, [{ id: 'a', reason: 'unknown' }]],
    ['all is settled', karma, ['old'], RULES, [{ id: 'old', reason: 'already_settled' }]],
    ['karma is disabled', karma, ['a'], { ...RULES, enabled: false }, []],
    [
      'there is no address',
      karma,
      ['a', 'x'],
      { ...RULES, treasuryAddress: '' },
      [{ id: 'x', reason: 'unknown' }],
    ],
    ['both modes are mixed', karma, ['a', 'live'], RULES, []],
  ] as const)('is rejected when %s', (_why, state, ids, rules, skipped) => {
    expect(settleable(state, ids, rules)).toEqual({ status: 'rejected', detail: expect.any(String), skipped })
  })
})
