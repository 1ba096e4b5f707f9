import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EXAMPLE_KEY } from '../../../../test/example-proof.fixture.ts'
import { PROOF } from '../../http/routes/proofs.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
let key: string
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['identity', 'create', '--dev'])
  await home.run(['kill-switch', 'set', '1', '--reason', 'first'])
  key = JSON.parse((await home.run(['identity', 'show', '--json'])).stdout).verifier_key
})
afterEach(() => home.close())

const raise = (level: number) => home.run(['kill-switch', 'set', String(level), '--reason', `level ${level}`])

const inHome = (name: string): string => join(home.folder, name)

const eventId = async (seq: number): Promise<string> => (await home.records())[seq - 1]!.id

const verify = async (file: string, ...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await home.run(['verify-proof', file, '--json', ...words])
  return { exitCode, stderr, verdict: stdout === '' ? null : JSON.parse(stdout) }
}

describe('svc identity show', () => {
  it('prints the verifier key', async () => {
    expect(key).toMatch(/^svc-[0-9a-f]{16}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/)
    expect((await home.run(['identity', 'show'])).stdout).toContain(key)
  })
})

describe('svc prove', () => {
  it('writes a proof of an event, for which it signs a checkpoint', async () => {
    const id = await eventId(2)
    const file = inHome('call.tlog-proof')
    const { exitCode, stdout } = await home.run(['prove', id, '--out', file])
    expect([exitCode, stdout]).toEqual([
      0,
      `A proof of ${(await stat(file)).size} bytes written to ${file}\n`,
    ])
    const record = (await home.records()).find((one) => one.id === id)
    expect(await verify(file, '--key', key)).toMatchObject({
      exitCode: 0,
      verdict: {
        ok: true,
        kind: 'inclusion',
        signed_by: key.split('+')[0],
        event: { seq: 2, id, type: record!.type, ts: record!.ts, payload: JSON.parse(record!.payload) },
      },
    })
    expect((await home.run(['integrity'])).exitCode).toBe(0)
  })

  it('prints it without --out, as text or as JSON', async () => {
    const id = await eventId(1)
    const { stdout } = await home.run(['prove', id])
    expect(stdout).toMatch(/^c2sp\.org\/tlog-proof@v1\nextra /)
    expect(JSON.parse((await home.run(['prove', id, '--json'])).stdout)).toEqual({ proof: stdout })
  })

  it('replaces a file only with --force', async () => {
    const file = inHome('call.tlog-proof')
    await writeFile(file, 'precious')
    const kept = await home.run(['prove', await eventId(1), '--out', file])
    expect([kept.exitCode, await readFile(file, 'utf8')]).toEqual([1, 'precious'])
    expect((await home.run(['prove', await eventId(1), '--out', file, '--force'])).exitCode).toBe(0)
    expect((await verify(file, '--key', key)).exitCode).toBe(0)
  })

  it('refuses an unknown event, and a combination that makes no sense', async () => {
    const { exitCode, stderr } = await home.run(['prove', 'nope'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no event has the id nope')])
    for (const words of [[], ['x', '--from', '1'], ['x', '--to', '1'], ['x', '--force']])
      expect((await home.run(['prove', ...words])).exitCode, words.join(' ')).toBe(2)
  })

  it('proves that a later checkpoint only adds events, by size and by file', async () => {
    const file = inHome('call.tlog-proof')
    await home.run(['prove', await eventId(1), '--out', file])
    const { size } = (await verify(file, '--key', key)).verdict.checkpoint
    await raise(2)
    await home.run(['prove', (await home.records()).at(-1)!.id])
    for (const from of [String(size), file]) {
      const growth = inHome(`growth-${from === file ? 'file' : 'size'}.proof`)
      expect((await home.run(['prove', '--from', from, '--out', growth])).exitCode).toBe(0)
      const { exitCode, verdict } = await verify(growth, '--key', key)
      expect([exitCode, verdict]).toMatchObject([
        0,
        { ok: true, kind: 'consistency', older: { size }, newer: { size: (await home.records()).length } },
      ])
    }
    expect((await home.run(['prove', '--from', '1', '--to', String(size)])).stderr).toContain(
      'no checkpoint of 1 events is kept',
    )
    expect((await home.run(['prove', '--from', inHome('none')])).stderr).toContain('cannot read')
    expect((await home.run(['prove', '--from', String(size + 1), '--to', file])).exitCode).not.toBe(0)
  })

  it('signs with no other key than the saved one', async () => {
    const locked = await openTestHome()
    const password = { environment: { SVC_MASTER_PASSWORD: 'correct horse battery staple' } }
    await locked.run(['identity', 'create'], password)
    await locked.run(['kill-switch', 'set', '1', '--reason', 'first'], password)
    const records = await locked.records()
    const refused = await locked.run(['prove', records[0]!.id])
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('SVC_MASTER_PASSWORD')])
    expect(await locked.records()).toHaveLength(records.length)
    expect((await locked.run(['prove', records[0]!.id], password)).exitCode).toBe(0)
    // Now a checkpoint covers it, and nothing has to be signed.
    expect((await locked.run(['prove', records[0]!.id])).exitCode).toBe(0)
    await locked.close()
  })
})

describe('svc verify-proof', () => {
  const write = async (text: string): Promise<string> => {
    const file = inHome('given.tlog-proof')
    await writeFile(file, text)
    return file
  }

  it('shows what is proved, for people', async () => {
    const { exitCode, stdout } = await home.run(['verify-proof', await write(PROOF), '--key', EXAMPLE_KEY])
    expect(exitCode).toBe(0)
    for (const text of [
      'holds: the event is in the log',
      'signal.curator.v1',
      '2026-02-20T00:29:58.000Z',
      '1 of 5 events',
    ])
      expect(stdout).toContain(text)
  })

  it('takes the key from a file', async () => {
    await writeFile(inHome('log.pub'), `${EXAMPLE_KEY}\n`)
    expect((await verify(await write(PROOF), '--key-file', inHome('log.pub'))).exitCode).toBe(0)
  })

  it.each([
    ['another key', PROOF, () => key, 'wrong_key'],
    ['a changed byte', PROOF.replace('time 2026', 'time 2025'), () => EXAMPLE_KEY, 'signature'],
    ['a changed hash', PROOF.replace('\n9kED', '\n9kEC'), () => EXAMPLE_KEY, 'not_included'],
    ['another index', PROOF.replace('index 0', 'index 3'), () => EXAMPLE_KEY, 'not_included'],
    ['another event', PROOF.replace('extra fDIw', 'extra fDIx'), () => EXAMPLE_KEY, 'not_included'],
    ['something else', 'once upon a time\n', () => EXAMPLE_KEY, 'malformed'],
  ])('refuses %s', async (_, text, keyOf, reason) => {
    const file = await write(text)
    expect(await verify(file, '--key', keyOf())).toMatchObject({
      exitCode: 1,
      verdict: { ok: false, reason },
    })
    const { exitCode, stdout } = await home.run(['verify-proof', file, '--key', keyOf()])
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('does not hold')])
  })

  it('does not verify without a key, and says whose it is', async () => {
    const { exitCode, stdout } = await home.run(['verify-proof', await write(PROOF)])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('not verified')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('signed by svc-8a88e3dd7409f195 (key id 0094aa35)')
  })

  it('refuses a key that is damaged, two keys, and a file that is not there', async () => {
    const file = await write(PROOF)
    expect((await home.run(['verify-proof', file, '--key', 'x'])).exitCode).toBe(2)
    expect((await home.run(['verify-proof', file, '--key', key, '--key-file', file])).exitCode).toBe(2)
    expect((await home.run(['verify-proof', inHome('none')])).stderr).toContain('cannot read')
  })
})
