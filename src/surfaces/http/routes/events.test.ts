import { NOW } from '../../../../test/given.fixture.ts'
import { timestampOf } from '../../../core/shared/brand.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { echoed } from '../../../core/shared/echo.ts'
import { testSigner } from '../../../../test/signer.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import type { LogRecord, Stamped } from '../../../core/log/event.ts'
import { chain } from '../../../core/log/hash-chain.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { EXAMINED_MAX } from '../event-page.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

interface Item {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly payload: unknown
  readonly prev_hash: string
  readonly hash: string
  readonly [member: string]: unknown
}

let server: TestServer

interface TestEvent extends Partial<Pick<Stamped, 'source' | 'traceId' | 'recordedAt'>> {
  readonly type: string
  readonly payload: Stamped['payload']
}

/** Appends directly to the log, as another process would. */
const append = async (events: readonly TestEvent[]) => {
  const head = await server.log.head()
  const stamped = events.map(({ type, payload, ...more }, index) => ({
    seq: head.seq + index + 1,
    id: server.clock.newId(),
    type,
    ts: NOW,
    source: 'test',
    traceId: null,
    dedupeKey: null,
    payload,
    recordedAt: NOW,
    ...more,
  }))
  const chained = chain(stamped, head, sha256Hex)
  const signer = testSigner()
  const signatures = await signer.signAll(chained.map(({ payload }) => payload))
  const records: LogRecord[] = chained.map((record, index) => ({
    ...record,
    signature: signatures[index] ?? null,
    signer: signer.nodeId,
    batchSignature: null,
    commands: null,
  }))
  const { status } = await server.log.append(records, head)
  expect(status).toBe('appended')
  return records
}

beforeAll(async () => {
  server = await startTestServer()
  await append([
    { type: 'signal.ta.v1', payload: { symbol: 'BTC', rsi_14: 55.5 } },
    { type: 'signal.ta.rsi.v1', payload: { symbol: 'ETH' } },
    { type: 'signal.tape.v1', payload: { symbol: 'BTC' } },
    { type: 'execution.position_opened.v1', payload: { asset: 'btc', position_id: 'p1' } },
    { type: 'signal.ta.v1', payload: { symbol: 'BTC', note: 'Größe 😀' } },
  ])
})
afterAll(() => server.close())

const list = async (query: string) => {
  const { status, body } = await server.call('GET', `/events${query}`)
  expect(status, query).toBe(200)
  return body as unknown as { items: Item[]; limit: number; next_seq: number | null }
}

const seqsOf = async (query: string) => (await list(query)).items.map(({ seq }) => seq)

describe('GET /events', () => {
  it('lists newest first, a hundred at a time', async () => {
    const page = await list('')
    expect(page.items.map(({ seq }) => seq)).toEqual([7, 6, 5, 4, 3, 2, 1])
    expect(page).toMatchObject({ limit: 100, next_seq: null })
  })

  it('shows a chain that can be recomputed', async () => {
    const { items } = await list('?order=asc')
    let prevHash = ''
    for (const [index, item] of items.entries()) {
      expect(item).toMatchObject({ seq: index + 1, prev_hash: prevHash, schema_version: 'v1' })
      const stored = await server.log.get(item.id)
      const payload = stored?.payload ?? ''
      const parts = [prevHash, item['ts'], item.id, item.type, 'v1', item['source'], '', '', payload]
      expect(sha256Hex(parts.join('|'))).toBe(item.hash)
      expect(JSON.parse(payload)).toEqual(item.payload)
      expect(item['signature']).toMatch(/^[0-9a-f]{128}$/)
      prevHash = item.hash
    }
  })

  it('filters by whole segments of the type', async () => {
    expect(await seqsOf('?type=signal.ta')).toEqual([7, 4, 3])
    expect(await seqsOf('?type=signal.ta.v1')).toEqual([7, 3])
    expect(await seqsOf('?type=signal')).toEqual([7, 5, 4, 3])
    expect(await seqsOf('?type=sig')).toEqual([])
    expect(await seqsOf('?type=%25')).toEqual([])
    expect(await seqsOf('?type=')).toHaveLength(7)
  })

  it('filters by symbol, in any case, and by both', async () => {
    expect(await seqsOf('?symbol=BTC')).toEqual([7, 6, 5, 3])
    expect(await seqsOf('?symbol=%20btc')).toEqual([7, 6, 5, 3])
    expect(await seqsOf('?symbol=NONE')).toEqual([])
    expect(await seqsOf('?symbol=BTC&type=signal.ta')).toEqual([7, 3])
    expect(await seqsOf('?symbol=BTC&type=signal&order=asc')).toEqual([3, 5, 7])
  })

  it('filters by what events are about, alone and with type and symbol', async () => {
    expect(await seqsOf('?about=p1')).toEqual([6])
    expect(await seqsOf('?about=source:test')).toEqual([7, 5, 4, 3])
    expect(await seqsOf('?about=source:test&type=signal.ta')).toEqual([7, 4, 3])
    expect(await seqsOf('?about=source:test&symbol=btc')).toEqual([7, 5, 3])
    expect(await seqsOf('?about=source:test&symbol=btc&type=signal.ta&order=asc')).toEqual([3, 7])
    expect(await seqsOf('?about=nothing')).toEqual([])
  })

  it('pages in both directions, seeing each event once', async () => {
    for (const [order, bound] of [
      ['asc', 'after_seq'],
      ['desc', 'before_seq'],
    ] as const) {
      for (const filter of ['', '&type=signal', '&symbol=BTC', '&symbol=BTC&type=signal']) {
        const all = await seqsOf(`?order=${order}${filter}`)
        const seen: number[] = []
        let next: number | null = null
        do {
          const from: string = next === null ? '' : `&${bound}=${next}`
          const page = await list(`?order=${order}&limit=2${filter}${from}`)
          seen.push(...page.items.map(({ seq }) => seq))
          next = page.next_seq
        } while (next !== null)
        expect(seen, order + filter).toEqual(all)
      }
    }
  })

  it('begins at an event, inclusive, and between bounds, exclusive', async () => {
    const { items } = await list('?order=asc')
    const third = items[2]?.id ?? ''
    expect(await seqsOf(`?since=${third}&order=asc`)).toEqual([3, 4, 5, 6, 7])
    expect(await seqsOf(`?since=${third}&after_seq=4`)).toEqual([7, 6, 5])
    expect(await seqsOf(`?since=${third}&after_seq=1`)).toEqual([7, 6, 5, 4, 3])
    expect(await seqsOf('?after_seq=2&before_seq=5')).toEqual([4, 3])
    expect(await seqsOf('?after_seq=99999999999999999999999999')).toEqual([])
    const unknown = await server.call('GET', '/events?since=none')
    expect([unknown.status, unknown.body['code'], unknown.body['event_id']]).toEqual([
      404,
      'event.not_found',
      'none',
    ])
  })

  it('refuses what is no limit, order or bound', async () => {
    for (const [query, name, type] of [
      ['limit=501', 'limit', 'less_than_equal'],
      ['limit=0', 'limit', 'greater_than_equal'],
      ['limit=-1', 'limit', 'greater_than_equal'],
      ['limit=abc', 'limit', 'int_type'],
      ['limit=', 'limit', 'int_type'],
      ['limit=1.5', 'limit', 'int_type'],
      ['limit=1e2', 'limit', 'int_type'],
      ['limit=1&limit=2', 'limit', 'int_type'],
      ['after_seq=-1', 'after_seq', 'greater_than_equal'],
      ['before_seq=x', 'before_seq', 'int_type'],
      ['order=up', 'order', 'enum'],
      ['from=yesterday', 'from', 'timestamp_invalid'],
      ['to=2026-02-30', 'to', 'timestamp_invalid'],
      ['about=a%00b', 'about', 'string_pattern'],
      ['type=a%00b', 'type', 'string_pattern'],
      ['type=a&type=b', 'type', 'string_type'],
      [`symbol=${'x'.repeat(257)}`, 'symbol', 'string_too_long'],
    ]) {
      const { status, body } = await server.call('GET', `/events?${query}`)
      expect([status, body['code'], body['errors']], query).toMatchObject([
        422,
        'request.invalid',
        [{ loc: ['query', name], type }],
      ])
    }
    const { body } = await server.call('GET', '/events?limit=501')
    expect(body['detail']).toBe('limit must be at most 500')
    expect((await server.call('GET', '/events?limit=500&unknown=1&unknown=2&__proto__=3')).status).toBe(200)
  })
})

describe('GET /events of a source and a time', () => {
  it('filters by source, trace, id and time, alone and together', async () => {
    const own = await append([
      { type: 'execution.order_filled.v1', payload: { position_id: 'p1', order_id: 'o1' }, traceId: 't1' },
      { type: 'signal.ta.v1', payload: { symbol: 'SOL' }, source: 'ann', traceId: 't1' },
      {
        type: 'system.audit.v1',
        payload: { symbol: 'SOL' },
        source: 'ann',
        recordedAt: timestampOf('2026-02-20T01:00:00.000Z'),
      },
    ])
    const [filled = 0, signal = 0, audit = 0] = own.map(({ seq }) => seq)
    expect(await seqsOf('?about=trace:t1')).toEqual([signal, filled])
    expect(await seqsOf('?about=p1&type=execution.order_filled')).toEqual([filled])
    expect(await seqsOf('?source=ann')).toEqual([audit, signal])
    expect(await seqsOf('?source=ann&type=signal')).toEqual([signal])
    expect(await seqsOf('?source=ann&type=system')).toEqual([audit])
    expect(await seqsOf('?source=ann&symbol=sol&about=trace:t1')).toEqual([signal])
    expect(await seqsOf('?from=2026-02-20T01:00:00Z')).toEqual([audit])
    expect(await seqsOf('?from=2026-02-20T00:30:00Z&to=2026-02-20T01:00:00Z&source=ann')).toEqual([signal])
    expect(await seqsOf(`?to=2026-02-20T01:00:00Z&after_seq=${signal}`)).toEqual([])
    expect(await seqsOf('?from=2027-01-01')).toEqual([])
    expect(await seqsOf('?to=2025-01-01')).toEqual([])
    expect(await seqsOf('?from=&to=&about=&source=&limit=1')).toEqual([audit])
  })
})

describe('GET /events/{id}', () => {
  it('shows one record', async () => {
    const { items } = await list('')
    for (const item of items) {
      expect((await server.call('GET', `/events/${item.id}`)).body).toEqual(item)
    }
  })

  it('does not know others', async () => {
    for (const id of ['none', '%00', 'x'.repeat(2000), '%F0%9F%98%80', '..%2f..', '%7C']) {
      const { status, body } = await server.call('GET', `/events/${id}`)
      expect([status, body['code'], body['event_id']]).toEqual([
        404,
        'event.not_found',
        echoed(decodeURIComponent(id)),
      ])
    }
  })
})

describe('a damaged event', () => {
  it('is shown as it is, in an answer that is still JSON', async () => {
    const damaged = await startTestServer({ log: new DamagedLog() })
    const { body } = await damaged.call('GET', '/events')
    expect((body as unknown as { items: Item[] }).items[0]?.payload).toBe('{"level":1')
    const full = await damaged.call('GET', '/integrity?mode=full')
    expect(full.status).toBe(200)
    expect(full.body).toMatchObject({ ok: false, reason: 'hash', first_bad_seq: 1 })
    expect(full.body['first_bad_id']).toEqual(expect.any(String))
    await damaged.close()
  })
})

describe('a symbol with few events of the wanted type', () => {
  it('ends a page early and goes on behind it', async () => {
    const many = Array.from({ length: EXAMINED_MAX }, () => ({
      type: 'signal.ta.v1',
      payload: { symbol: 'RARE' },
    }))
    await append([{ type: 'signal.whale.v1', payload: { symbol: 'RARE' } }, ...many])
    const first = await list('?symbol=RARE&type=signal.whale')
    expect(first.items).toEqual([])
    expect(first.next_seq).toBeGreaterThan(0)
    const second = await list(`?symbol=RARE&type=signal.whale&before_seq=${first.next_seq}`)
    expect(second.items).toHaveLength(1)
    expect(second.next_seq).toBeNull()
  })
})

/** A log with truncated payloads, as after a manual change to the database. */
class DamagedLog extends MemoryLog {
  override async read(...args: Parameters<MemoryLog['read']>): Promise<readonly LogRecord[]> {
    return (await super.read(...args)).map(cut)
  }

  override async *scan(...args: Parameters<MemoryLog['scan']>): AsyncIterable<readonly LogRecord[]> {
    for await (const page of super.scan(...args)) yield page.map(cut)
  }

  override verifyHashes(): ReturnType<MemoryLog['verifyHashes']> {
    return Promise.resolve({ ok: false, checked: 0, seq: 1, id: null, kind: 'hash', detail: 'cut' })
  }
}

const cut = (record: LogRecord): LogRecord => ({ ...record, payload: '{"level":1' })
