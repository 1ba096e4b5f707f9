import fc from 'fast-check'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { catchUp, EMPTY_MEMORY, snapshotOf } from '../../../engine/memory.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'
import { copyLines } from '../copied-file.ts'

const REPORT_MEMBERS = [
  'ok',
  'mode',
  'checked',
  'event_count',
  'first_bad_id',
  'first_bad_seq',
  'reason',
  'head_seq',
  'head_hash',
  'elapsed_ms',
  'checks',
]

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['identity', 'create', '--dev'])
  await home.run(['kill-switch', 'set', '1', '--reason', 'first'])
  await home.run(['kill-switch', 'set', '2', '--reason', 'second \u2028 line'])
})
afterEach(() => home.close())

const integrity = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await home.run(['integrity', '--json', ...words])
  return { exitCode, stderr, report: stdout === '' ? null : JSON.parse(stdout) }
}

const changePayload = async (seq: number) =>
  home.replaceRecords(
    (await home.records()).map((record) =>
      record.seq === seq ? { ...record, payload: record.payload.replace('first', 'fir5t') } : record,
    ),
  )

describe('of the store', () => {
  it('passes in full by default', async () => {
    const { exitCode, report } = await integrity()
    const records = await home.records()
    expect(exitCode).toBe(0)
    expect(Object.keys(report)).toEqual(expect.arrayContaining(REPORT_MEMBERS))
    expect(report).toMatchObject({
      ok: true,
      mode: 'full',
      checked: records.length,
      event_count: records.length,
      first_bad_id: null,
      reason: null,
      head_seq: records.length,
      head_hash: records.at(-1)?.hash,
      checks: { hash_chain: 'pass', sequence: 'pass', signatures: 'pass', projections: 'pass' },
    })
  })

  it('looks at the newest events only with --fast', async () => {
    expect((await integrity('--fast', '2')).report).toMatchObject({ ok: true, mode: 'fast', checked: 2 })
    expect((await integrity('--fast')).report).toMatchObject({
      mode: 'fast',
      checked: (await home.records()).length,
    })
  })

  it.each(['0', '100001', 'many'])('refuses --fast %s', async (count) => {
    expect((await integrity('--fast', count)).exitCode).toBe(2)
  })

  it('finds one changed byte and ends with 1', async () => {
    const [, , changed] = await home.records()
    await changePayload(3)
    const { exitCode, report } = await integrity()
    expect(exitCode).toBe(1)
    expect(report).toMatchObject({ ok: false, reason: 'hash', first_bad_seq: 3, first_bad_id: changed?.id })
    expect(report.checks.hash_chain).toBe('fail')
    const forPeople = await home.run(['integrity'])
    expect(forPeople.exitCode).toBe(1)
    expect(forPeople.stdout).toMatch(/^Integrity +broken \(hash\)$/m)
    expect(forPeople.stdout).toContain(`event 3, ${changed?.id}`)
  })

  it('finds a snapshot that is not what the events give', async () => {
    const log = home.log()
    if (log === null) throw new Error('no log')
    const memory = await catchUp(log, EMPTY_MEMORY, { trust: null })
    const state = {
      ...memory.state,
      trading: {
        ...memory.state.trading,
        killSwitch: { ...memory.state.trading.killSwitch, level: 0 as const },
      },
    }
    await log.saveSnapshot(snapshotOf({ ...memory, state }, home.signer()))
    const { exitCode, report } = await integrity()
    expect(exitCode).toBe(1)
    expect(report).toMatchObject({
      ok: false,
      reason: 'projections',
      checks: { projections: 'fail', hash_chain: 'pass' },
    })
  })

  it('finds a snapshot that was changed, also with --fast', async () => {
    const log = home.log()
    if (log === null) throw new Error('no log')
    const snapshot = snapshotOf(await catchUp(log, EMPTY_MEMORY, { trust: null }), home.signer())
    await log.saveSnapshot({ ...snapshot, state: snapshot.state.replace('crisis', 'normal').concat(' ') })
    expect((await integrity('--fast')).report).toMatchObject({ ok: false, checks: { projections: 'fail' } })
  })

  it('is in order where nothing is stored yet', async () => {
    const empty = await openTestHome()
    const { exitCode, stdout } = await empty.run(['integrity', '--fast', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      mode: 'fast',
      checked: 0,
      event_count: 0,
      head_hash: '',
    })
    expect((await empty.run(['integrity'])).stdout).toContain('nothing is stored')
    await empty.close()
  })

  it('shows a person how far it is', async () => {
    const { stdout, stderr } = await home.run(['integrity'], { terminal: true })
    expect(stderr).toContain('verifying [')
    expect(stdout).toContain('\u001b[32mintact')
  })
})

describe('of an export', () => {
  const path = () => join(home.folder, 'events.jsonl')
  const exportAll = () => home.run(['export', 'events', '--output', path(), '--force'])

  it('needs no store', async () => {
    await exportAll()
    const other = await openTestHome()
    const { exitCode, stdout } = await other.run(['integrity', '--json', '--file', path()])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      mode: 'offline',
      checked: (await home.records()).length,
    })
    await other.close()
  })

  it('finds a changed byte and a missing line', async () => {
    const { stdout } = await home.run(['export', 'events'])
    await writeFile(path(), stdout.replace('first', 'fir5t'))
    expect(await integrity('--file', path())).toMatchObject({
      exitCode: 1,
      report: { ok: false, reason: 'hash' },
    })
    const lines = stdout.split('\n')
    await writeFile(path(), [...lines.slice(0, 2), ...lines.slice(3)].join('\n'))
    expect(await integrity('--file', path())).toMatchObject({ exitCode: 1, report: { reason: 'sequence' } })
  })

  it('finds a cut end with the checkpoints that were kept apart', async () => {
    await home.checkpoint()
    const { stdout } = await home.run(['export', 'events'])
    await writeFile(path(), stdout.trimEnd().split('\n').slice(0, -1).join('\n'))
    const checkpoints = join(home.folder, 'data', 'events.db.checkpoints')
    expect(await integrity('--file', path())).toMatchObject({ exitCode: 0 })
    // A name that was mistyped and a file of another kind are not the same as none.
    for (const wrong of [`${checkpoints}x`, path()]) {
      const { exitCode, stderr } = await integrity('--file', path(), '--checkpoints', wrong)
      expect(exitCode).toBe(1)
      expect(stderr).toContain('no signed checkpoint')
    }
    expect(await integrity('--file', path(), '--checkpoints', checkpoints)).toMatchObject({
      exitCode: 1,
      report: { reason: 'truncated' },
    })
  })

  it('fails on a file that is not there, and on one that is no export', async () => {
    expect(await integrity('--file', join(home.folder, 'none'))).toMatchObject({ exitCode: 1, report: null })
    await writeFile(path(), 'x'.repeat(5 * 1024 * 1024))
    const { exitCode, stderr } = await integrity('--file', path())
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ code: 'file.unreadable' })
  })

  it('does not go with what concerns the store', async () => {
    expect((await integrity('--file', 'x', '--fast')).exitCode).toBe(2)
    expect((await integrity('--file', 'x', '--accept-loss', '--reason', 'y')).exitCode).toBe(2)
    expect((await integrity('--checkpoints', 'x')).exitCode).toBe(2)
  })
})

describe('after a loss', () => {
  const loseTheEnd = async () => {
    await home.checkpoint()
    await home.replaceRecords((await home.records()).slice(0, -1))
  }

  it('is broken until an operator accepts it', async () => {
    await loseTheEnd()
    expect(await integrity()).toMatchObject({ exitCode: 1, report: { reason: 'truncated' } })
    const kept = (await home.records()).length

    const { exitCode, report } = await integrity('--accept-loss', '--reason', 'restored Monday')
    expect(exitCode).toBe(0)
    expect(report).toMatchObject({ ok: true, mode: 'full' })
    const [restore, audit, ...rest] = (await home.records()).slice(kept)
    expect(rest).toEqual([])
    expect(restore?.type).toBe('system.restore.v1')
    expect(JSON.parse(restore?.payload ?? '')).toMatchObject({
      reason: 'restored Monday',
      checkpoint_size: kept + 1,
    })
    expect(JSON.parse(audit?.payload ?? '')).toMatchObject({ resource: 'cli:integrity', outcome: 'allowed' })
    expect(await readdir(join(home.folder, 'data'))).toEqual([
      expect.stringMatching(/^events\.db\.checkpoints\.superseded-/),
    ])
    expect(await integrity()).toMatchObject({ exitCode: 0 })
  })

  it('needs a reason, and a reason needs a loss', async () => {
    expect((await integrity('--accept-loss')).exitCode).toBe(2)
    expect((await integrity('--accept-loss', '--reason', ' ')).exitCode).toBe(2)
    expect((await integrity('--reason', 'x')).exitCode).toBe(2)
  })

  it('accepts nothing when nothing is lost', async () => {
    await home.checkpoint()
    const before = await home.records()
    const { exitCode, stderr } = await integrity('--accept-loss', '--reason', 'x')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ code: 'integrity.nothing_lost' })
    expect(await home.records()).toEqual(before)
  })

  it('accepts nothing where nothing is stored', async () => {
    const empty = await openTestHome()
    const { exitCode, stderr } = await empty.run(['integrity', '--accept-loss', '--reason', 'x'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('there is no event store')
    await empty.close()
  })
})

describe('lines of an export', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-lines-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const read = async (text: string) => {
    const path = join(folder, 'lines')
    await writeFile(path, text)
    const steps: (readonly [number, number])[] = []
    const lines: string[] = []
    for await (const line of copyLines(path, process.stdin, (...step) => steps.push(step))) lines.push(line)
    return { lines, steps }
  }

  it('splits at line feeds only', async () => {
    expect((await read('a\u2028b\nc\r\n\nd')).lines).toEqual(['a\u2028b', 'c\r', '', 'd'])
    expect((await read('')).lines).toEqual([])
  })

  it('puts lines together that are larger than one reading', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 5 }), async (lengths) => {
        const lines = lengths.map((length) => 'é'.repeat(length))
        const { lines: found, steps } = await read(lines.map((line) => `${line}\n`).join(''))
        expect(found).toEqual(lines)
        const [bytesRead, bytesTotal] = steps.at(-1) ?? [0, 0]
        expect(bytesRead).toBe(bytesTotal)
      }),
      { numRuns: 20 },
    )
  })
})
