import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogRecord } from '../../src/core/log/event.ts'
import type { IntegrityReport } from '../../src/engine/integrity/report.ts'
import { COLUMNS, found, SOUND, type Expected } from './columns.fixture.ts'
import { copy, modify, overwrite, remove, removeAndRecount, setNull, sql, swap } from './edits.fixture.ts'
import {
  buildTamperedLogs,
  LAST_SEQ,
  node,
  other,
  outsider,
  type TamperedLogs,
  type Raw,
} from './tampered-log.fixture.ts'
import { rechained, recordsOf, started } from './signed-log.fixture.ts'

let logs: TamperedLogs
beforeAll(async () => {
  logs = await buildTamperedLogs()
})
afterAll(() => logs.end())

const fullOf = async (edit: (raw: Raw) => void): Promise<IntegrityReport> =>
  (await logs.broken(edit)).verify('full')

const fastOf = async (edit: (raw: Raw) => void): Promise<IntegrityReport> =>
  (await logs.broken(edit)).verify('fast')

/** The sound events with changes to some, every hash made to fit again from the first change on. */
const rewritten = (change: (records: readonly LogRecord[]) => readonly LogRecord[]): readonly LogRecord[] =>
  rechained(change(logs.records))

const COLUMN_CASES = Object.entries(COLUMNS)

it('verifies while nobody touched it', async () => {
  const sound = await logs.broken(() => undefined)
  expect(await sound.verify('full')).toMatchObject({ ...SOUND, checked: LAST_SEQ })
  expect(await sound.verify('fast')).toMatchObject(SOUND)
})

describe('every column', () => {
  it('has a line in the table', async () => {
    const names: string[] = []
    await logs.broken((raw) => {
      const rows = raw.prepare(`SELECT name FROM pragma_table_info('events')`).all() as { name: string }[]
      names.push(...rows.map(({ name }) => name))
    })
    expect(Object.keys(COLUMNS).sort()).toEqual(names.sort())
  })

  it.each(COLUMN_CASES)('%s: another value is found', async (column, { other: value, modify: expected }) => {
    const report = await fullOf(modify(column, value))
    expect(report).toMatchObject(found(expected))
    // An event with another number is missing under its own; every other fault names the event.
    const id = column === 'id' ? '019b7000-0000-7000-8000-00000000ffff' : logs.records[14]?.id
    expect(report.first_bad_id).toBe(column === 'seq' ? null : id)
  })

  it.each(COLUMN_CASES.filter(([, { setNull: expected }]) => expected !== 'impossible'))(
    '%s: nothing in its place is found',
    async (column, { setNull: expected }) => {
      if (expected === 'impossible') return
      expect(await fullOf(setNull(column))).toMatchObject(found(expected))
    },
  )

  it.each(COLUMN_CASES)('%s: two values exchanged are found', async (column, { swap: expected }) => {
    expect(await fullOf(swap(column))).toMatchObject(found(expected))
  })

  // The column `dom` is checked by full verification only.
  it.each(COLUMN_CASES.filter(([column]) => column !== 'dom'))(
    '%s: another value among the newest is found by fast verification',
    async (column, { other: value, modify: expected }) => {
      const report = await fastOf(modify(column, value, 35))
      if (column === 'seq') expect(report).toMatchObject({ ok: false, reason: 'sequence' })
      else expect(report).toMatchObject(found(expected === 'the same' ? expected : { ...expected, seq: 35 }))
    },
  )
})

describe('a time of receipt that is no time', () => {
  it.each([
    [`'9999'`, 15],
    [`'9999-99-99T99:99:99.999'`, 15],
    [`'9999-99-99T99:99:99.999'`, LAST_SEQ],
  ])('%s at %i is reported, not fatal', async (value, seq) => {
    const broken = await logs.broken(modify('recorded_at', value, seq))
    expect(await broken.verify('full')).toMatchObject({ ok: false, first_bad_seq: seq })
    expect((await broken.verify('fast')).ok).toBe(seq !== LAST_SEQ)
  })
})

describe('every row', () => {
  it.each<[string, (raw: Raw) => void, Expected]>([
    ['deleted from the middle', remove('seq = 15'), { reason: 'sequence', seq: 15 }],
    ['deleted from the start', remove('seq = 1'), { reason: 'sequence', seq: 1 }],
    ['several deleted', remove('seq BETWEEN 12 AND 33'), { reason: 'sequence', seq: 12 }],
    ['all deleted', remove('true'), { reason: 'truncated', seq: 1 }],
    ['all deleted and recounted', removeAndRecount('true'), { reason: 'truncated', seq: 1 }],
    ['the end deleted', remove('seq > 31'), { reason: 'truncated', seq: 32 }],
    ['the end deleted and recounted', removeAndRecount('seq > 31'), { reason: 'truncated', seq: 32 }],
    ['the end deleted behind the newest checkpoint', remove('seq > 39'), { reason: 'truncated', seq: 40 }],
    [
      'recorded a little earlier',
      modify('recorded_at', `'2026-01-01T00:00:14.500Z'`),
      { reason: 'signature', seq: 15 },
    ],
    ['two exchanged', swap('seq', 15, 16), { reason: 'link', seq: 15 }],
    ['far ones exchanged', swap('seq', 15, 35), { reason: 'link', seq: 15 }],
    [
      'one moved to the end',
      sql('UPDATE events SET seq = 41 WHERE seq = 15'),
      { reason: 'sequence', seq: 15 },
    ],
    [
      'one moved before the first',
      sql('UPDATE events SET seq = -3 WHERE seq = 15'),
      { reason: 'sequence', seq: -3 },
    ],
    ['one put before the first', copy(15, 0, { id: `'new'` }), { reason: 'sequence', seq: 0 }],
    ['one duplicated at the end', copy(15, 41, { id: `'new'` }), { reason: 'link', seq: 41 }],
    ['one put far behind', copy(15, 99, { id: `'new'` }), { reason: 'sequence', seq: 41 }],
    [
      'the names of the nodes exchanged',
      sql(`UPDATE events SET signer = '${other.nodeId}x' WHERE signer = '${node.nodeId}'`),
      { reason: 'signature', seq: 1 },
    ],
  ])('%s', async (_, edit, expected) => {
    expect(await fullOf(edit)).toMatchObject(found(expected))
  })

  it.each<[string, (raw: Raw) => void, Expected]>([
    ['deleted among the newest', remove('seq = 35'), { reason: 'sequence', seq: 35 }],
    ['the one before the window deleted', remove('seq = 30'), { reason: 'sequence', seq: 30 }],
    ['the end deleted', removeAndRecount('seq > 31'), { reason: 'truncated', seq: 32 }],
    ['the end deleted behind the newest checkpoint', remove('seq > 39'), { reason: 'truncated', seq: 40 }],
    ['all deleted', removeAndRecount('true'), { reason: 'truncated', seq: 1 }],
    ['two of the newest exchanged', swap('seq', 35, 36), { reason: 'link', seq: 35 }],
    [
      'one moved before the first',
      sql('UPDATE events SET seq = -3 WHERE seq = 15'),
      { reason: 'sequence', seq: -3 },
    ],
    ['one duplicated at the end', copy(15, 41, { id: `'new'` }), { reason: 'link', seq: 41 }],
    [
      'the event of the newest checkpoint changed with its hash',
      modify('hash', `'${'00'.repeat(32)}'`, 38),
      { reason: 'hash', seq: 38 },
    ],
    // Events far from the end are read by full verification only. The root in a signed checkpoint covers them all.
    ['deleted from the middle', remove('seq = 15'), { reason: 'tree', seq: null }],
    ['two exchanged far from the end', swap('seq', 15, 16), { reason: 'tree', seq: null }],
  ])('fast: %s', async (_, edit, expected) => {
    expect(await fastOf(edit)).toMatchObject(found(expected))
  })

  it('finds an older copy of the file', async () => {
    const older = await logs.broken(() => undefined, { copyOf: 'older' })
    for (const mode of ['fast', 'full'] as const) {
      expect(await older.verify(mode)).toMatchObject(found({ reason: 'truncated', seq: 26 }))
    }
    expect(await older.verify('full', { checkpoints: null })).toMatchObject(SOUND)
  })
})

describe('somebody who makes every hash fit again', () => {
  /** Every hash fits, but no accepted key has signed those events at their positions. */
  const caughtBy = async (records: readonly LogRecord[], seq: number): Promise<void> => {
    const { verify } = await logs.broken((raw) => {
      raw.exec('DELETE FROM events WHERE seq > 5')
      overwrite(records)(raw)
      raw.exec('UPDATE counters SET n = (SELECT count(*) FROM events WHERE events.dom = counters.dom)')
    })
    expect(await verify('full', { checkpoints: null })).toMatchObject(found({ reason: 'signature', seq }))
    expect(await verify('full')).toMatchObject(found({ reason: 'signature', seq }))
    expect(await verify('fast')).toMatchObject({ ok: false, reason: 'signature' })
  }

  it('is caught when an event is left out', async () => {
    await caughtBy(
      rewritten((records) => [...records.filter(({ seq }) => seq !== 15), { ...records[39]!, id: 'new' }]),
      15,
    )
  })

  it('is caught when an event is put in', async () => {
    await caughtBy(
      rewritten((records) => records.toSpliced(24, 0, { ...records[24]!, id: 'new' })),
      25,
    )
  })

  it('is caught when events change places', async () => {
    const withTime = (record: LogRecord, { recordedAt }: LogRecord): LogRecord => ({ ...record, recordedAt })
    await caughtBy(
      rewritten((records) =>
        records.toSpliced(14, 2, withTime(records[15]!, records[14]!), withTime(records[14]!, records[15]!)),
      ),
      15,
    )
  })

  it('is caught by the signature when a payload changes', async () => {
    const records = rewritten((sound) => sound.with(14, { ...sound[14]!, payload: '{"number":0}' }))
    const { verify } = await logs.broken(overwrite(records))
    expect(await verify('full', { checkpoints: null })).toMatchObject(found({ reason: 'signature', seq: 15 }))
    expect(await verify('full')).toMatchObject(found({ reason: 'signature', seq: 15 }))
  })

  it('is caught when the whole log is made anew with another key', async () => {
    const said = { type: 'signal.test.v1', payload: { number: 1 } }
    const records = await recordsOf([started(outsider), ...Array.from({ length: 49 }, () => said)], outsider)
    const { verify } = await logs.broken((raw) => {
      raw.exec(`UPDATE events SET signer = '${outsider.nodeId}' WHERE signer = '${node.nodeId}'`)
      overwrite(records)(raw)
    })
    for (const mode of ['fast', 'full'] as const) {
      expect(await verify(mode)).toMatchObject({ ok: false, reason: 'checkpoint' })
    }
  })
})

describe('signatures, which the hash leaves out', () => {
  it.each<[string, (raw: Raw) => void, Expected]>([
    ['exchanged', swap('signature', 15, 17), { reason: 'signature', seq: 15 }],
    [
      'stripped',
      sql('UPDATE events SET signature = NULL, signer = NULL WHERE seq = 15'),
      { reason: 'signature', seq: 15 },
    ],
    [
      'stripped from all',
      sql('UPDATE events SET signature = NULL, signer = NULL'),
      { reason: 'signature', seq: 1 },
    ],
    ['empty', modify('signature', `''`), { reason: 'signature', seq: 15 }],
    ['cut', modify('signature', 'substr(signature, 1, 63)'), { reason: 'signature', seq: 15 }],
    [
      'of another event',
      modify('signature', '(SELECT signature FROM events WHERE seq = 13)'),
      { reason: 'signature', seq: 15 },
    ],
    [
      'replayed from another node that said the same',
      sql(
        'UPDATE events SET (signature, signer) = (SELECT signature, signer FROM events WHERE seq = 5) WHERE seq = 4',
      ),
      { reason: 'signature', seq: 4 },
    ],
  ])('%s', async (_, edit, expected) => {
    expect(await fullOf(edit)).toMatchObject(found(expected))
  })
})
