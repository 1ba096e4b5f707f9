import { timestampOf } from '../shared/brand.ts'
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chain, fieldFaultOf, hashOf } from './hash-chain.ts'
import { EMPTY_HEAD, type Stamped } from './event.ts'

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

const event = (fields: Partial<Stamped>): Stamped => ({
  seq: 1,
  id: 'e',
  type: 'brain.cycle.v1',
  ts: timestampOf('2026-01-01T00:00:00.000Z'),
  source: null,
  traceId: null,
  dedupeKey: null,
  payload: {},
  recordedAt: timestampOf('2026-01-01T00:00:00.000Z'),
  ...fields,
})

describe('the hash rule', () => {
  it('gives the vectors of the contract', () => {
    const first = event({
      id: '11111111-1111-4111-8111-111111111111',
      type: 'signal.curator.v1',
      ts: timestampOf('2026-02-20T00:29:58.000Z'),
      source: 'operator:telegram',
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 7.5, rationale: 'Größe | ok' },
    })
    const second = event({
      seq: 2,
      id: '22222222-2222-4222-8222-222222222222',
      type: 'system.kill_switch.v1',
      ts: timestampOf('2026-02-20T00:30:00.123Z'),
      source: 'brain.kill_switch',
      traceId: 't-1',
      dedupeKey: 'k-1',
      payload: { level: 2, prev_level: 0, reason: 'daily_loss', triggered_by: 'risk_monitor' },
    })
    expect(chain([first, second], EMPTY_HEAD, sha256Hex).map((record) => record.hash)).toEqual([
      'e306ee83c5519c4bdde142d1998c196026f4448e11417f4825d42354cb3dfd7f',
      'a9366495fcca9f4e1317af9e3d0b39ab6cf4ae3c5692964e3fd4940dcbe82ff7',
    ])
    expect(chain([event({})], EMPTY_HEAD, sha256Hex)[0]?.hash).toBe(
      '48f343d4a6c340dcf6262c409573799bd46e564ca53ad775bb2cf953b6dbedc6',
    )
  })

  it('links each event to the one before', () => {
    const records = chain(
      [event({}), event({ seq: 2 }), event({ seq: 3 })],
      { hash: 'f'.repeat(64) },
      sha256Hex,
    )
    expect(records[0]?.prevHash).toBe('f'.repeat(64))
    expect(records[1]?.prevHash).toBe(records[0]?.hash)
    expect(records[2]?.prevHash).toBe(records[1]?.hash)
  })
})

describe('fields that could make two events hash alike', () => {
  it('two readings of one preimage are both refused where a bar moves a border', () => {
    const one = { ...event({ traceId: 'b', dedupeKey: '|' }), schemaVersion: 'v1', payload: '{}' }
    const other = { ...event({ traceId: 'b|', dedupeKey: '' }), schemaVersion: 'v1', payload: '{}' }
    expect(hashOf('', one, sha256Hex)).toBe(hashOf('', other, sha256Hex))
    expect(fieldFaultOf(one)).toContain('dedupeKey')
    expect(fieldFaultOf(other)).toContain('traceId')
  })

  it.each(['source', 'traceId', 'dedupeKey', 'id', 'type', 'ts'] as const)(
    '%s may hold no bar, control character or nothing',
    (name) => {
      for (const bad of ['a|b', 'a\nb', 'a\u0000', '\u007f', '']) {
        expect(() => chain([event({ [name]: bad })], EMPTY_HEAD, sha256Hex)).toThrow(name)
      }
    },
  )

  it('different events never share a preimage', () => {
    const text = fc.string({
      minLength: 1,
      maxLength: 4,
      unit: fc.constantFrom('a', 'b', '{', '}', '"', ','),
    })
    const fields = fc.record({
      source: fc.option(text),
      traceId: fc.option(text),
      dedupeKey: fc.option(text),
    })
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other)
        const [a] = chain([event(one)], EMPTY_HEAD, sha256Hex)
        const [b] = chain([event(other)], EMPTY_HEAD, sha256Hex)
        expect(a?.hash === b?.hash).toBe(same)
      }),
    )
  })
})
