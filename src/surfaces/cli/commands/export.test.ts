import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { viewEventRecord } from '../../../core/views/event-record.fixture.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['kill-switch', 'set', '1', '--reason', 'a "quoted", \u2028 reason'])
  await home.run(['kill-switch', 'set', '2', '--reason', 'password=hunter2'])
})
afterEach(() => home.close())

const expected = async () => (await home.records()).map(viewEventRecord)

describe('to standard output', () => {
  it('writes one record per line, complete and in order', async () => {
    const { exitCode, stdout } = await home.run(['export', 'events'])
    expect(exitCode).toBe(0)
    const lines = stdout.split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line))).toEqual(await expected())
  })

  it('writes one array', async () => {
    const { stdout } = await home.run(['export', 'events', '--format', 'json'])
    expect(JSON.parse(stdout)).toEqual(await expected())
  })

  it('writes the array with --json alone', async () => {
    const { stdout } = await home.run(['export', 'events', '--json'])
    expect(JSON.parse(stdout)).toEqual(await expected())
  })

  it('does not mix --json with what is not one document', async () => {
    for (const format of ['jsonl', 'csv']) {
      expect((await home.run(['export', 'events', '--json', '--format', format])).exitCode).toBe(2)
    }
  })

  it('writes a table with a heading and the payload as it is stored', async () => {
    const { stdout } = await home.run(['export', 'events', '--format', 'csv'])
    const [heading, first] = stdout.split('\r\n')
    expect(heading).toBe(
      'seq,id,type,ts,schema_version,source,trace_id,dedupe_key,payload,prev_hash,hash,signature,signer,recorded_at',
    )
    expect(first).toMatch(/^1,[0-9a-f-]{36},system\.started\.v1,2026-02-20T00:30:00\.000Z,v1,system,,,"\{""/)
    expect(stdout.split('\r\n')).toHaveLength((await home.records()).length + 2)
  })

  it('redacts nothing: a changed record would not verify', async () => {
    expect((await home.run(['export', 'events'])).stdout).toContain('password=hunter2')
  })

  it('refuses a format nobody knows', async () => {
    expect((await home.run(['export', 'events', '--format', 'xml'])).exitCode).toBe(2)
  })
})

describe('with dates', () => {
  const count = async (...words: readonly string[]) =>
    JSON.parse((await home.run(['export', 'events', '--json', ...words])).stdout).length

  it('keeps what lies between them, both ends included', async () => {
    const all = (await home.records()).length
    expect(await count('--from', '2026-02-20', '--to', '2026-02-20')).toBe(all)
    expect(await count('--from', '2026-02-20T00:30:00Z')).toBe(all)
    expect(await count('--from', '2026-02-20T00:30:00.001Z')).toBe(0)
    expect(await count('--to', '2026-02-20T00:30:00Z')).toBe(all)
    expect(await count('--to', '2026-02-19')).toBe(0)
  })

  it('refuses what is no date', async () => {
    expect((await home.run(['export', 'events', '--from', 'yesterday'])).exitCode).toBe(2)
  })
})

describe('to a file', () => {
  const path = () => join(home.folder, 'events.jsonl')

  it('writes it whole, for its owner only, and says so', async () => {
    const { exitCode, stdout } = await home.run(['export', 'events', '--output', path(), '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      output: path(),
      format: 'jsonl',
      events: (await home.records()).length,
    })
    expect((await readFile(path(), 'utf8')).trimEnd().split('\n')).toHaveLength((await home.records()).length)
    expect((await stat(path())).mode & 0o777).toBe(0o600)
    expect(await readdir(home.folder)).toEqual(['events.jsonl'])
  })

  it('overwrites only with --force', async () => {
    await writeFile(path(), 'precious')
    const refused = await home.run(['export', 'events', '--output', path(), '--json'])
    expect(refused.exitCode).toBe(1)
    expect(JSON.parse(refused.stderr)).toMatchObject({ status: 409, code: 'file.exists' })
    expect(await readFile(path(), 'utf8')).toBe('precious')
    expect((await home.run(['export', 'events', '--output', path(), '--force'])).exitCode).toBe(0)
    expect(await readFile(path(), 'utf8')).toContain('system.started.v1')
    expect(await readdir(home.folder)).toEqual(['events.jsonl'])
  })

  it('fails in a folder that is not there', async () => {
    const { exitCode, stderr } = await home.run([
      'export',
      'events',
      '--output',
      join(home.folder, 'no', 'x'),
    ])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^error: cannot write /)
  })

  it('shows a bar to a person', async () => {
    const { stderr } = await home.run(['export', 'events', '--output', path()], { terminal: true })
    expect(stderr).toContain('exporting [########################] 100%')
    expect(stderr.endsWith('\r\u001b[K')).toBe(true)
  })
})

it('writes an empty export where nothing is stored', async () => {
  const empty = await openTestHome()
  expect((await empty.run(['export', 'events'])).stdout).toBe('')
  expect((await empty.run(['export', 'events', '--json'])).stdout).toBe('[]\n')
  expect((await empty.run(['export', 'events', '--format', 'csv'])).stdout).toMatch(/^seq,[^\n]*\r\n$/)
  await empty.close()
})

it('stops quietly, and closes the store, when the reader goes away', async () => {
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  })
  const { exitCode, stderr } = await home.run(['export', 'events'], { stdout })
  expect(exitCode).toBe(0)
  expect(stderr).toBe('')
})
