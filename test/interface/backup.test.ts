import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, sharedPostgres } from '../postgres/server.fixture.ts'
import { eventsOf, register, submit } from './acts.ts'
import { editStore, readStore } from './edit-store.ts'
import {
  cleanUp,
  newHome,
  releaseLocks,
  startProcess,
  startService,
  svc,
  svcAlone,
  type CommandResult,
  type Variables,
} from './service.ts'
import { onEveryStore } from './stores.ts'

const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

/** A saved identity, in plain text. */
const SAVED: Variables = { SVC_DEV_MODE: '1' }

/** Without waiting for it in this process, which has other things to do meanwhile. */
const svcMeanwhile = async (
  home: string,
  words: readonly string[],
  variables: Variables,
  shellSetup = ':',
): Promise<CommandResult> => {
  const env = { ...process.env, NO_COLOR: '1', ...variables }
  const command = [process.execPath, SVC, '--home', home, ...words]
  const child = spawn('sh', ['-c', `${shellSetup}; exec "$0" "$@"`, ...command], { env })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await once(child, 'close')
  return { exitCode: child.exitCode, stdout, stderr }
}

const exported = async (home: string, variables: Variables): Promise<string> => {
  const { exitCode, stdout, stderr } = await svc(home, ['export', 'events', '--output', join(home, 'out')], {
    ...variables,
  })
  expect(exitCode, stdout + stderr).toBe(0)
  const text = readFileSync(join(home, 'out'), 'utf8')
  rmSync(join(home, 'out'))
  return text
}

const ok = (result: CommandResult): never => {
  expect(result.exitCode, result.stdout + result.stderr).toBe(0)
  return JSON.parse(result.stdout) as never
}

const refused = (result: CommandResult, code: string): { readonly detail: string } => {
  expect(result.exitCode, result.stdout + result.stderr).toBe(1)
  const problem = JSON.parse(result.stderr) as { readonly code: string; readonly detail: string }
  expect(problem.code, problem.detail).toBe(code)
  return problem
}

/** The events and checkpoints of a home as they are stored: the same afterwards if nothing was changed. */
const storedIn = async (home: string): Promise<string> => {
  // Reads a copy, because a restore refuses a database that is open.
  const copy = await newHome()
  cpSync(join(home, 'data'), join(copy, 'data'), { recursive: true })
  const rows = await readStore(copy, {}, 'SELECT * FROM events ORDER BY seq')
  return [...rows.map((row) => JSON.stringify(row)), readFileSync(checkpointsIn(home), 'utf8')].join('\n')
}

const checkpointsIn = (home: string): string => join(home, 'data', 'events.db.checkpoints')

/** Without the journal, which comes and goes with every command. */
const filesIn = (home: string): readonly string[] =>
  readdirSync(join(home, 'data'))
    .filter((name) => !/-(wal|shm|journal)$/.test(name))
    .toSorted()

/** Where the same node can go on: its identity, and nothing else. */
const newHomeOf = async (home: string): Promise<string> => {
  const other = await newHome()
  cpSync(join(home, 'identity'), join(other, 'identity'), { recursive: true })
  return other
}

onEveryStore('a backup under load', (store) => {
  it('holds everything that was acknowledged before it began, and goes on elsewhere', async () => {
    const home = await newHome()
    const variables = { ...(await store()), ...SAVED, SVC_API__RATE_LIMIT_PER_MINUTE: '100000' }
    const service = await startService(home, variables)
    await register(service, 'n1')
    const acknowledged: string[] = []
    let isOver = false
    const load = Array.from({ length: 6 }, async () => {
      while (!isOver) acknowledged.push(await submit(service, 'n1', { rationale: 'under load' }))
    })
    while (acknowledged.length < 60) await sleep(20)

    const before = [...acknowledged]
    const file = join(home, 'copy.jsonl.gz')
    const made = ok(await svcMeanwhile(home, ['backup', file, '--json'], variables)) as {
      readonly events: number
      readonly head_hash: string
    }
    const during = acknowledged.length - before.length
    isOver = true
    await Promise.all(load)
    expect(during).toBeGreaterThan(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(home).filter((name) => name.includes('partial'))).toEqual([])
    const [, ...lines] = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(made.events)
    const ids = new Set(lines.map((line) => (JSON.parse(line) as { readonly id: string }).id))
    expect(before.filter((id) => !ids.has(id))).toEqual([])
    expect(ok(await svc(home, ['integrity', '--file', file, '--json'], variables))).toMatchObject({
      ok: true,
      checked: made.events,
    })
    await service.stop()

    const other = await newHomeOf(home)
    const elsewhere = { ...variables, ...(await store()) }
    expect(ok(await svcAlone(other, ['restore', file, '--json'], elsewhere))).toMatchObject({
      events: made.events,
      head_hash: made.head_hash,
      old_log: null,
      // Nothing there knew what followed the backup.
      kill_switch: 2,
    })
    expect(readdirSync(join(other, 'data')).filter((name) => name.includes('partial'))).toEqual([])
    const again = await startService(other, elsewhere)
    expect((await again.call('GET', '/health')).status).toBe(200)
    expect(ok(await svc(other, ['health', '--json'], elsewhere))).toMatchObject({ ok: true })
    expect((await again.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    expect((await again.call('GET', '/kill-switch')).body).toMatchObject({ level: 2, reason: 'log_restored' })
    const [started] = await eventsOf(again, 'system.started')
    expect(started?.payload).toMatchObject({ integrity: { ok: true } })
    await submit(again, 'n1', { rationale: 'after the restore' })
    await again.stop()
    const linesHere = (await exported(home, variables)).split('\n')
    const linesThere = (await exported(other, elsewhere)).split('\n')
    expect(linesThere.slice(0, made.events)).toEqual(linesHere.slice(0, made.events))
    expect(linesThere.length).toBeGreaterThan(made.events)
    expect(ok(await svc(other, ['integrity', '--json'], elsewhere))).toMatchObject({ ok: true })
  })
})

onEveryStore('a restore in place', (store) => {
  it('keeps the old log, refuses a loss, and records one that is accepted', async () => {
    const home = await newHome()
    const variables = { ...(await store()), ...SAVED }
    const first = await startProcess(home, variables)
    await register(first, 'n1')
    const file = join(home, 'monday.jsonl')
    await submit(first, 'n1', { rationale: 'before' })
    const { events } = ok(await svc(home, ['backup', file, '--json'], variables)) as {
      readonly events: number
    }
    refused(await svcAlone(home, ['restore', file, '--json'], variables), 'store.in_use')
    // One that stands still does not answer, but it is there.
    const { pid } = JSON.parse(readFileSync(join(home, 'data', 'service.json'), 'utf8')) as {
      readonly pid: number
    }
    process.kill(pid, 'SIGSTOP')
    refused(await svcAlone(home, ['restore', file, '--json'], variables), 'store.in_use')
    process.kill(pid, 'SIGCONT')
    await submit(first, 'n1', { rationale: 'after' })
    await first.stop()
    const whole = await exported(home, variables)

    expect(
      refused(await svcAlone(home, ['restore', file, '--json'], variables), 'backup.older').detail,
    ).toContain(`ends with event ${events}`)
    expect(await exported(home, variables)).toBe(whole)

    const accepted = ['restore', file, '--accept-loss', '--reason', 'a bad day', '--json']
    const restored = ok(await svcAlone(home, accepted, variables)) as {
      readonly old_log: string
      readonly old_checkpoints: string
    }
    expect(restored).toMatchObject({ events, kill_switch: 2 })
    expect(restored.old_log).toMatch(/replaced/)
    expect(existsSync(restored.old_checkpoints)).toBe(true)
    if (variables['SVC_STORE__URL'] === undefined) expect(existsSync(restored.old_log)).toBe(true)

    const service = await startService(home, variables)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({ level: 2 })
    const [loss] = await eventsOf(service, 'system.restore')
    expect(loss?.payload).toMatchObject({
      reason: 'a bad day',
      checkpoint_size: whole.trimEnd().split('\n').length,
    })
    await service.stop()
    expect((await exported(home, variables)).split('\n').slice(0, events)).toEqual(
      whole.split('\n').slice(0, events),
    )
    expect(ok(await svc(home, ['integrity', '--json'], variables))).toMatchObject({ ok: true })

    // The newest state again: everything that is known here is in it, so nothing is recorded as lost.
    const newest = join(home, 'newest.jsonl')
    ok(await svc(home, ['backup', newest, '--json'], variables))
    ok(await svc(home, ['kill-switch', 'reset', '--level', '0', '--reason', 'compared', '--json'], variables))
    const latest = join(home, 'latest.jsonl')
    ok(await svc(home, ['backup', latest, '--json'], variables))
    refused(await svcAlone(home, ['restore', newest, '--json'], variables), 'backup.older')
    const held = await exported(home, variables)
    const same = ok(await svcAlone(home, ['restore', latest, '--json'], variables)) as {
      readonly kill_switch: number
    }
    expect(same).toMatchObject({ kill_switch: 0, known_size: null })
    expect((await exported(home, variables)).startsWith(held)).toBe(true)
    expect(ok(await svc(home, ['integrity', '--json'], variables))).toMatchObject({ ok: true })
  })
})

describe.skipIf(postgresMissing !== null)('an export', () => {
  afterAll(cleanUp)

  it('moves from SQLite to PostgreSQL and back without a changed byte', async () => {
    const home = await newHome()
    const service = await startService(home, SAVED)
    await register(service, 'n1')
    for (let n = 0; n < 300; n += 1) await submit(service, 'n1', { rationale: `é ${n} \u2028 "quoted"` })
    await service.stop()
    const text = await exported(home, SAVED)
    const file = join(home, 'events.jsonl')
    writeFileSync(file, text)

    const postgres = { ...SAVED, SVC_STORE__URL: await (await sharedPostgres()).freshDatabase() }
    const there = ok(await svc(home, ['import', file, '--json'], postgres)) as {
      readonly head_hash: string
      readonly tree_root: string
    }
    expect(there).toMatchObject({ checkpoint_signed: true })
    const onPostgres = await exported(home, postgres)
    expect(onPostgres).toBe(text)
    expect(ok(await svc(home, ['integrity', '--json'], postgres))).toMatchObject({ ok: true })
    refused(await svc(home, ['import', file, '--json'], postgres), 'store.not_empty')

    const back = join(home, 'back.db')
    const imported = await svc(home, ['import', '-', '--into', back, '--json'], SAVED, onPostgres)
    expect(ok(imported)).toMatchObject({ head_hash: there.head_hash, tree_root: there.tree_root })
    expect(statSync(back).mode & 0o777).toBe(0o600)
    refused(await svc(home, ['import', file, '--into', back, '--json'], SAVED), 'store.not_empty')
    const reading = await newHome()
    mkdirSync(join(reading, 'data'))
    cpSync(back, join(reading, 'data', 'events.db'))
    expect(await exported(reading, SAVED)).toBe(text)

    // A service goes on where the log came from.
    const moved = await startService(home, postgres)
    expect((await moved.call('GET', '/kill-switch')).body).toMatchObject({ level: 0 })
    await moved.stop()
  })

  it('that is damaged leaves nothing in either store', async () => {
    const home = await newHome()
    const service = await startService(home, SAVED)
    await register(service, 'n1')
    await service.stop()
    const lines = (await exported(home, SAVED)).trimEnd().split('\n')
    const url = await (await sharedPostgres()).freshDatabase()
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [
        'changed',
        lines.map((line, at) => (at === 2 ? line.replace('"payload":{', '"payload":{"a":1,') : line)),
      ],
      ['missing', lines.filter((_, at) => at !== 2)],
      ['beginning', lines.slice(1)],
      ['cut', lines.slice(0, -1).concat(lines.at(-1)?.slice(0, 40) ?? '')],
      ['empty', []],
    ]
    for (const [name, content] of cases) {
      const file = join(home, `${name}.jsonl`)
      writeFileSync(file, content.join('\n'))
      for (const into of [url, join(home, `${name}.db`)]) {
        const { detail } = refused(
          await svc(home, ['import', file, '--into', into, '--json'], SAVED),
          'backup.damaged',
        )
        expect(detail).toContain(file)
      }
      expect(readdirSync(home).filter((entry) => entry.startsWith(`${name}.db`))).toEqual([])
    }
    const whole = join(home, 'whole.jsonl')
    writeFileSync(whole, lines.join('\n'))
    expect(ok(await svc(home, ['import', whole, '--into', url, '--json'], SAVED))).toMatchObject({
      events: lines.length,
    })
  })
})

describe('a node without a saved identity', () => {
  afterAll(cleanUp)

  it('is backed up with the checkpoint of its service, and restored without a key', async () => {
    const home = await newHome()
    const variables = { SVC_STORE__CHECKPOINT_EVERY_SECONDS: '1' }
    const service = await startService(home, variables)
    await register(service, 'n1')
    const file = join(home, 'copy.jsonl')
    const { events } = ok(await svc(home, ['backup', file, '--json'], variables)) as {
      readonly events: number
    }
    await service.stop()
    const other = await newHome()
    expect(ok(await svcAlone(other, ['restore', file, '--json'], variables))).toMatchObject({
      events,
      kill_switch: 2,
    })
    const again = await startService(other, variables)
    expect((await again.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await again.stop()
  })
})

describe('a copy that cannot be trusted', () => {
  let home: string
  let backup: string
  let log: string
  beforeAll(async () => {
    home = await newHome()
    const service = await startService(home, SAVED)
    await register(service, 'n1')
    await submit(service, 'n1', { rationale: 'kept' })
    await service.stop()
    backup = join(home, 'good.jsonl')
    ok(await svc(home, ['backup', backup, '--json'], SAVED))
    log = await exported(home, SAVED)
  })
  afterAll(cleanUp)

  /** Expects a refusal that leaves the log, its checkpoints and the folder unchanged. */
  const refusedHere = async (file: string, code: string): Promise<string> => {
    const [files, stored] = [filesIn(home), await storedIn(home)]
    const { detail } = refused(await svcAlone(home, ['restore', file, '--json'], SAVED), code)
    expect(filesIn(home)).toEqual(files)
    expect(await storedIn(home)).toBe(stored)
    return detail
  }
  const expectSound = async (): Promise<void> => {
    expect(await exported(home, SAVED)).toBe(log)
    expect(ok(await svc(home, ['integrity', '--json'], SAVED))).toMatchObject({ ok: true })
  }

  it('a flipped byte is found wherever it is', async () => {
    const bytes = readFileSync(backup)
    const header = bytes.indexOf(0x0a)
    // In the signed root of the checkpoint, in a payload, in a signature, and near the end.
    const places = [
      bytes.indexOf('\\n', bytes.indexOf('"checkpoint":')) + 80,
      bytes.indexOf('"payload":{"', header) + 14,
      bytes.indexOf('"signature":"', header) + 20,
      bytes.lastIndexOf('"batch_signature":"') + 30,
    ]
    const stored = await storedIn(home)
    for (const place of places) {
      const changed = Buffer.from(bytes)
      changed[place] = changed[place] === 0x61 ? 0x62 : 0x61
      const file = join(home, 'flipped.jsonl')
      writeFileSync(file, changed)
      const { exitCode, stderr } = await svcAlone(home, ['restore', file, '--json'], SAVED)
      expect(exitCode, `byte ${place}: ${stderr}`).toBe(1)
      expect(stderr).toMatch(/"backup\.damaged"|"file\.unreadable"/)
      expect(await storedIn(home)).toBe(stored)
    }
    await expectSound()
  })

  it('a cut one is found, compressed or not', async () => {
    const file = join(home, 'cut.jsonl')
    const lines = readFileSync(backup, 'utf8').trimEnd().split('\n')
    writeFileSync(file, `${lines.slice(0, -1).join('\n')}\n`)
    expect(await refusedHere(file, 'backup.damaged')).toContain('in no signed batch')
    // Behind a whole batch only the checkpoint shows it.
    const end = lines.findLastIndex(
      (line, at) => at < lines.length - 1 && !line.includes('"batch_signature":null'),
    )
    writeFileSync(file, `${lines.slice(0, end + 1).join('\n')}\n`)
    expect(await refusedHere(file, 'backup.damaged')).toContain('but the log had')
    const zipped = join(home, 'cut.jsonl.gz')
    ok(await svc(home, ['backup', zipped, '--json'], SAVED))
    truncateSync(zipped, statSync(zipped).size - 100)
    await refusedHere(zipped, 'file.unreadable')
    await expectSound()
  })

  it('one of another key is refused, with and without a pinned log', async () => {
    const forger = await newHome()
    const service = await startService(forger, SAVED)
    await service.stop()
    const forged = join(forger, 'forged.jsonl')
    ok(await svc(forger, ['backup', forged, '--json'], SAVED))
    await refusedHere(forged, 'backup.other_log')
    await expectSound()
    const bare = await newHomeOf(home)
    rmSync(join(bare, 'identity', 'logs.json'))
    expect(
      refused(await svcAlone(bare, ['restore', forged, '--json'], SAVED), 'backup.other_log').detail,
    ).toContain('does not accept the key of this node')
    // A forger can write that the log accepts our key, but our key has not signed the checkpoint.
    const { node_id, public_key } = JSON.parse(readFileSync(join(bare, 'identity', 'identity.json'), 'utf8'))
    ok(await svc(forger, ['identity', 'admit', node_id, public_key, '--json'], SAVED))
    const admitting = join(forger, 'admitting.jsonl')
    ok(await svc(forger, ['backup', admitting, '--json'], SAVED))
    expect(
      refused(await svcAlone(bare, ['restore', admitting, '--json'], SAVED), 'backup.other_log').detail,
    ).toContain('nor has its key')
    expect(existsSync(join(bare, 'data', 'events.db'))).toBe(false)
    const nobody = await newHome()
    refused(await svcAlone(nobody, ['restore', backup, '--json'], SAVED), 'identity.unavailable')
  })

  it('one that lacks a checkpoint kept elsewhere is refused in an empty home', async () => {
    const other = await newHomeOf(home)
    const early = join(home, 'early.jsonl')
    cpSync(backup, early)
    ok(await svc(home, ['kill-switch', 'set', '1', '--json'], SAVED))
    ok(await svc(home, ['backup', join(home, 'later.jsonl'), '--json'], SAVED))
    const kept = checkpointsIn(home)
    refused(await svcAlone(other, ['restore', early, '--checkpoint', kept, '--json'], SAVED), 'backup.older')
    expect(existsSync(join(other, 'data', 'events.db'))).toBe(false)
    log = await exported(home, SAVED)
  })

  it('what is no backup is refused', async () => {
    const text = join(home, 'notes.txt')
    writeFileSync(text, 'milk, eggs\nbread\n')
    expect(await refusedHere(text, 'backup.damaged')).toContain('line 1')
    const plain = join(home, 'plain.jsonl')
    writeFileSync(plain, log)
    expect(await refusedHere(plain, 'backup.damaged')).toContain('an export')
    const future = join(home, 'future.jsonl')
    writeFileSync(future, '{"signal_engine_backup":2}\n')
    expect(await refusedHere(future, 'file.unreadable')).toContain('format version 2')
    const added = join(home, 'added.jsonl')
    const [header = ''] = readFileSync(backup, 'utf8').split('\n', 1)
    writeFileSync(added, `${header}\n${log}`)
    expect(await refusedHere(added, 'backup.damaged')).toContain('something was added')
    await refusedHere(join(home, 'missing.jsonl'), 'file.unreadable')
    await refusedHere(home, 'file.unreadable')
    await expectSound()
  })

  it('an existing file is never overwritten, and a damaged log is not backed up', async () => {
    const taken = join(home, 'taken.jsonl')
    writeFileSync(taken, 'mine')
    refused(await svc(home, ['backup', taken, '--json'], SAVED), 'file.exists')
    expect(readFileSync(taken, 'utf8')).toBe('mine')
    refused(
      await svc(home, ['backup', join(home, 'no', 'such', 'folder'), '--json'], SAVED),
      'file.unreadable',
    )
    const { exitCode, stderr } = await svc(home, ['backup', '-', '--json'], SAVED)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('needs a file')
    const damaged = await newHome()
    for (const folder of ['identity', 'data'])
      cpSync(join(home, folder), join(damaged, folder), { recursive: true })
    await editStore(damaged, {}, `UPDATE events SET ts = '2020-01-01T00:00:00.000Z' WHERE seq = 2`)
    refused(await svc(damaged, ['backup', join(damaged, 'x.jsonl'), '--json'], SAVED), 'backup.damaged')
    expect(readdirSync(damaged).toSorted()).toEqual(['data', 'identity'])
    const empty = await newHome()
    refused(await svc(empty, ['backup', join(empty, 'x'), '--json'], SAVED), 'store.missing')
    expect(readdirSync(empty)).toEqual([])
  })

  it('a full disk leaves neither half a backup nor half a log', async () => {
    const full = await newHome()
    const service = await startService(full, SAVED)
    await register(service, 'n1')
    for (let n = 0; n < 200; n += 1) await submit(service, 'n1', { rationale: `${n} ${'x'.repeat(900)}` })
    await service.stop()
    const whole = await exported(full, SAVED)
    const file = join(full, 'large.jsonl')
    const limited = 'ulimit -f 200'
    refused(await svcMeanwhile(full, ['backup', file, '--json'], SAVED, limited), 'backup.unavailable')
    expect(readdirSync(full).filter((name) => name.startsWith('large'))).toEqual([])
    ok(await svc(full, ['backup', file, '--json'], SAVED))
    const other = await newHomeOf(full)
    const failed = await svcMeanwhile(other, ['restore', file, '--json'], SAVED, limited)
    refused(failed, 'store.unavailable')
    expect(readdirSync(join(other, 'data')).filter((name) => /^events\.db($|\.\d)/.test(name))).toEqual([])
    expect(await exported(full, SAVED)).toBe(whole)
    ok(await svcAlone(other, ['restore', file, '--json'], SAVED))
    expect((await exported(other, SAVED)).startsWith(whole)).toBe(true)
  })

  it.skipIf(process.getuid?.() === 0)('a folder without permission is named', async () => {
    const closed = join(home, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o500)
    refused(await svc(home, ['backup', join(closed, 'x.jsonl'), '--json'], SAVED), 'file.unreadable')
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'a restore that %s cuts off leaves the old log as it was',
    async (signal) => {
      const [files, stored] = [filesIn(home), await storedIn(home)]
      await releaseLocks()
      const child = spawn(process.execPath, [SVC, '--home', home, 'restore', '-', '--json'], {
        env: { ...process.env, ...SAVED },
      })
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      // Half of it, and then nothing more: the command waits for the rest.
      const half = readFileSync(backup)
      child.stdin.write(half.subarray(0, half.length / 2))
      while (!readdirSync(join(home, 'data')).some((name) => name.endsWith('.partial'))) await sleep(20)
      child.kill(signal)
      await once(child, 'close')
      const left = filesIn(home).filter((name) => !files.includes(name))
      if (signal === 'SIGTERM') expect(stderr).toContain('interrupted by SIGTERM')
      // A file left by a kill does not have the name of a log.
      expect(left).toEqual(
        signal === 'SIGTERM' ? [] : [expect.stringMatching(/^events\.db\.[\da-f-]{36}\.partial$/)],
      )
      for (const name of left) rmSync(join(home, 'data', name))
      expect(await storedIn(home)).toBe(stored)
      await expectSound()
    },
    120_000,
  )

  it('is recorded by the next one where it was killed after it had put the log in place', async () => {
    const other = await newHomeOf(home)
    const child = spawn(process.execPath, [SVC, '--home', other, 'restore', backup], {
      env: { ...process.env, ...SAVED },
      stdio: 'ignore',
    })
    const closed = once(child, 'close')
    // Opening the log to record the restore takes far longer than it takes to see that it is there.
    while (!existsSync(join(other, 'data', 'events.db')) && child.exitCode === null) await sleep(1)
    child.kill('SIGKILL')
    await closed
    expect(child.signalCode).toBe('SIGKILL')
    // A service that starts on it trades nothing.
    const copy = await newHome()
    cpSync(other, copy, { recursive: true })
    const service = await startService(copy, SAVED)
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({ level: 3 })
    await service.stop()
    expect(ok(await svcAlone(other, ['restore', backup, '--json'], SAVED))).toMatchObject({
      kill_switch: 2,
    })
    expect(ok(await svc(other, ['integrity', '--json'], SAVED))).toMatchObject({ ok: true })
    expect(filesIn(other).filter((name) => name.endsWith('.restored'))).toEqual([])
  })

  it('an old log that cannot be read is replaced and kept', async () => {
    const broken = await newHomeOf(home)
    mkdirSync(join(broken, 'data'))
    writeFileSync(join(broken, 'data', 'events.db'), 'no database at all')
    appendFileSync(join(broken, 'data', 'events.db'), 'x'.repeat(20_000))
    const { old_log: old } = ok(await svcAlone(broken, ['restore', backup, '--json'], SAVED)) as {
      readonly old_log: string
    }
    expect(readFileSync(old, 'utf8')).toContain('no database at all')
    expect(ok(await svc(broken, ['integrity', '--json'], SAVED))).toMatchObject({ ok: true })
  })
})

describe.skipIf(process.platform !== 'linux')('a service that has ended', () => {
  afterAll(cleanUp)

  it('leaves nothing open and holds no lock, though its process goes on', async () => {
    const home = await newHome()
    const service = await startService(home, SAVED)
    await register(service, 'n1')
    expect((await service.call('GET', '//metrics')).text).toContain('nodejs_eventloop_lag_seconds')
    expect(openFilesIn(home)).not.toEqual([])
    await service.stop()
    await releaseLocks()
    expect(openFilesIn(home)).toEqual([])
  })
})

/** Files of a folder that this process has open. */
const openFilesIn = (folder: string): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${descriptor}`)
      return file.startsWith(folder) ? [file] : []
    } catch {
      // The one that reads the list is closed by now.
      return []
    }
  })
