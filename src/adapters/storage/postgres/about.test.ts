import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresMissing,
  sharedPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { appendTo, type Said } from '../../../../test/records.fixture.ts'
import { stampedFrom, type LogRecord } from '../../../core/log/event.ts'
import { refsOf, sourceRef, symbolRef, traceRef } from '../../../core/log/refs.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { openPostgresLog } from './postgres-log.ts'

describe.skipIf(postgresMissing !== null)(`what is about an id (${postgresMissing ?? 'PostgreSQL'})`, () => {
  let server: PostgresServer
  let log: EventLog
  const stored: LogRecord[] = []
  beforeAll(async () => {
    server = await sharedPostgres()
    log = await openPostgresLog({ url: await server.freshDatabase() })
    for (const size of [1, 1, 40, 3, 250, 2, 1, 90, 1, 12]) stored.push(...(await appendTo(log, size, say)))
  })
  afterAll(async () => {
    await log.close()
  })

  it.each([
    ...['BTC', 'ETH', 'STRASSE', 'SOL', 'İ', 'A"B\\', 'TAB\tX', 'ÜBER', 'B'].map(symbolRef),
    ...['t-1', 'ü', 'a"b', 't-'].map(traceRef),
    ...['technical', 'Größe', 'tech'].map(sourceRef),
    'symbol:in-an-id',
    'a"b',
  ])('finds all that is about %j', async (about) => {
    const named = stored.filter((record) => refsOf(stampedFrom(record)).includes(about))
    expect(await log.read({ about, order: 'asc', limit: 1_000 })).toEqual(named)
    expect(await log.read({ about, order: 'desc', limit: 3 })).toEqual(named.toReversed().slice(0, 3))
  })

  it('comes in pages that begin and end anywhere', async () => {
    const seq = fc.integer({ min: 0, max: 405 })
    const query = fc.record({
      after: seq,
      before: seq,
      order: fc.constantFrom('asc' as const, 'desc' as const),
      limit: fc.integer({ min: 0, max: 60 }),
      about: fc.constantFrom(...IDS, 'symbol:BTC', 'symbol:ETH', 'unknown'),
    })
    const types = fc.option(fc.constantFrom(['signal'], ['signal.rare', 'brain'], ['brain.cycle.v1']))
    await fc.assert(
      fc.asyncProperty(query, types, async (page, ofTypes) => {
        const matches = stored.filter(
          ({ seq: at, type, payload }) =>
            at > page.after &&
            at < page.before &&
            payload.includes(`"${page.about.replace('symbol:', '')}"`) &&
            (ofTypes === null || ofTypes.some((prefix) => `${type}.`.startsWith(`${prefix}.`))),
        )
        const ordered = page.order === 'asc' ? matches : matches.toReversed()
        const found = await log.read({ ...page, ...(ofTypes !== null && { types: ofTypes }) })
        expect(found).toEqual(ordered.slice(0, page.limit))
      }),
      { numRuns: 300 },
    )
  })
})

const IDS = [1, 2, 3].map((number) => `019b7000-0000-7000-8000-00000000000${number}`)

const say = (seq: number): Said => ({
  type: seq % 50 === 0 ? 'signal.rare.v1' : seq % 2 === 0 ? 'signal.ta.v1' : 'brain.cycle.v1',
  payload: {
    order_id: IDS[seq % 7] ?? 'another',
    symbol: seq % 5 === 0 ? 'ETH' : 'BTC',
    ...(seq % 11 === 0 && { asset: ODD_SYMBOLS[seq % ODD_SYMBOLS.length] ?? '' }),
    ...(seq % 13 === 0 && { session_id: seq % 2 === 0 ? 'symbol:in-an-id' : 'a"b' }),
  },
  ...(seq % 9 === 0 && { traceId: ['t-1', 'ü', 'a"b'][seq % 3] ?? null }),
  ...(seq % 4 === 0 && { source: seq % 8 === 0 ? 'technical' : 'Größe' }),
})

/** Written in many ways, and some become others in capitals. */
const ODD_SYMBOLS = [' sol ', 'ſol', 'straße', 'i̇', 'a"b\\', 'tab\tx', 'über', 'Über']
