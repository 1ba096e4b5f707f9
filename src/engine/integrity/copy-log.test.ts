import { describe, expect, it } from 'vitest'
import { logWith, useIntegrityFixture, wellSigned } from '../../../test/tamper/integrity.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { eventRecordText } from '../../core/views/log.ts'
import type { LogDraft } from '../../ports/log-target.ts'
import { backupTexts, NotACopyError, openCopy, parseExportLine } from './backup-file.ts'
import { copyInto, DamagedCopyError } from './copy-log.ts'

const fixture = useIntegrityFixture()

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

const readAll = async (lines: AsyncIterable<string>): Promise<readonly string[]> => {
  const read: string[] = []
  for await (const line of lines) read.push(line)
  return read
}

const backupOf = async (records: readonly LogRecord[], size = records.length): Promise<string[]> => {
  await fixture.checkpointAt(records, size)
  const lines: string[] = []
  for await (const { text } of backupTexts(await logWith(records), (await fixture.newest())!, 'now'))
    lines.push(...text.split('\n').slice(0, -1))
  return lines
}

/** A draft in memory. */
const draftOf = (log = new MemoryLog()): LogDraft => ({
  treeNodes: (range) => log.treeNodes(range),
  head: () => log.head(),
  append: async (records, expected) => {
    const { status } = await log.append(records, expected)
    if (status !== 'appended') throw new Error(status)
  },
  install: () => Promise.resolve({ replaced: null }),
  discard: () => Promise.resolve(),
})

const copy = (lines: readonly string[], draft = draftOf()) =>
  copyInto(draft, linesOf(lines), { signatures: fixture.signatures, clock: Date })

describe('a backup', () => {
  it('begins with its checkpoint, and holds the events up to it', async () => {
    const records = await wellSigned(30)
    await fixture.checkpointAt(records, 20)
    const checkpoint = (await fixture.newest())!
    const texts: { readonly text: string; readonly written: number }[] = []
    for await (const part of backupTexts(await logWith(records), checkpoint, '2026-02-20T00:00:00.000Z'))
      texts.push(part)
    expect(JSON.parse(texts[0]?.text ?? '')).toEqual({
      signal_engine_backup: 1,
      made_at: '2026-02-20T00:00:00.000Z',
      events: 20,
      checkpoint: checkpoint.note,
    })
    expect(texts.map(({ written }) => written)).toEqual([0, 20])
    expect(texts[1]?.text).toBe(
      records
        .slice(0, 20)
        .map((record) => `${eventRecordText(record)}\n`)
        .join(''),
    )
  })

  it('is opened with its checkpoint, an export without, and neither loses a line', async () => {
    const lines = await backupOf(await wellSigned(5))
    const opened = await openCopy(linesOf(lines))
    expect(opened.checkpoint?.frontier.size).toBe(5)
    expect(await readAll(opened.lines)).toEqual(lines.slice(1))
    for (const plain of [lines.slice(1), ['no JSON'], ['null'], ['7'], []]) {
      const { checkpoint, lines: rest } = await openCopy(linesOf(plain))
      expect(checkpoint).toBeNull()
      expect(await readAll(rest)).toEqual(plain)
    }
  })

  it.each([
    ['another version', { signal_engine_backup: 2 }, 'format version 2, this release reads version 1'],
    ['no version', { signal_engine_backup: 'x' }, 'the first line of the backup is damaged'],
    ['no time', { made_at: 1 }, 'the first line of the backup is damaged'],
    ['no events', { events: 0 }, 'the first line of the backup is damaged'],
    ['other events than its checkpoint', { events: 6 }, 'the checkpoint in the first line'],
    ['no checkpoint', { checkpoint: 'x' }, 'the checkpoint in the first line'],
  ])('with %s is refused', async (_what, changed, reason) => {
    const [first = '', ...rest] = await backupOf(await wellSigned(5))
    const header = JSON.stringify({ ...(JSON.parse(first) as object), ...changed })
    await expect(openCopy(linesOf([header, ...rest]))).rejects.toThrow(reason)
    await expect(openCopy(linesOf([header, ...rest]))).rejects.toBeInstanceOf(NotACopyError)
  })
})

describe('a line of an export', () => {
  it('is the record that was written', async () => {
    const [record] = await wellSigned(1)
    expect(parseExportLine(eventRecordText(record!))).toEqual({ status: 'record', record })
  })

  it('is refused with what is wrong with it', async () => {
    const [record] = await wellSigned(1)
    const event = JSON.parse(eventRecordText(record!)) as Readonly<Record<string, unknown>>
    for (const [line, wrong] of [
      ['{', { reason: 'field', seq: null, id: null, why: 'this is no JSON' }],
      ['7', { reason: 'field', why: 'no event record: the whole' }],
      [JSON.stringify({ ...event, seq: 'x', ts: 1 }), { reason: 'field', why: 'no event record: seq, ts' }],
      [
        JSON.stringify({ ...event, payload: { text: '\ud800' } }),
        { reason: 'canonical', seq: 1, id: record!.id },
      ],
    ] as const)
      expect(parseExportLine(line)).toMatchObject({ status: 'malformed', ...wrong })
  })
})

describe('copying a log', () => {
  it('keeps all of it, in pages, and says what it is', async () => {
    const records = await wellSigned(1200)
    const log = new MemoryLog()
    const copied = await copy(await backupOf(records), draftOf(log))
    expect(copied).toMatchObject({
      head: { seq: 1200, hash: records.at(-1)!.hash },
      report: { ok: true, checked: 1200 },
    })
    expect(Buffer.from(copied.root).equals((await fixture.newest())!.eventRoot!)).toBe(true)
    expect(await log.read({ order: 'asc', limit: 2000 })).toEqual(records)
  })

  it('takes an export, too', async () => {
    const lines = (await wellSigned(20)).map(eventRecordText)
    expect(await copy(lines)).toMatchObject({ head: { seq: 20 }, checkpoint: null })
  })

  it('refuses what is not a whole and intact log', async () => {
    const records = await wellSigned(20)
    const backup = await backupOf(records, 19)
    const lines = records.map(eventRecordText)
    for (const [given, reason] of [
      [[], 'there is no event in it'],
      [lines.slice(1), 'it does not begin with the first event'],
      [lines.map((line) => line.replace('"number":4}', '"number":5}')), /./],
      [[...backup, lines[19]!], 'it holds 20 events, but its checkpoint is of 19'],
      [backup.slice(0, -1), /./],
    ] as const) {
      await expect(copy(given)).rejects.toThrow(reason)
      await expect(copy(given)).rejects.toBeInstanceOf(DamagedCopyError)
    }
  })

  it('refuses a checkpoint of another tree', async () => {
    const backup = await backupOf(await wellSigned(20))
    await fixture.store().setAside('2026-06-01T00:00:00.000Z')
    const others = await backupOf(await wellSigned(20, 5))
    await expect(copy([others[0]!, ...backup.slice(1)])).rejects.toBeInstanceOf(DamagedCopyError)
  })

  it('fails where the store did not keep what it was given', async () => {
    const lines = (await wellSigned(20)).map(eventRecordText)
    const whole = draftOf()
    const failed = 'the store did not keep what was copied into it'
    await expect(
      copy(lines, {
        ...whole,
        head: () => Promise.resolve({ seq: 20, hash: 'f'.repeat(64), recordedAt: '' }),
      }),
    ).rejects.toThrow(failed)
    await expect(copy(lines, { ...draftOf(), treeNodes: () => Promise.resolve([]) })).rejects.toThrow(failed)
  })
})
