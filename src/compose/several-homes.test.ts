import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  installSuccessor,
  loadIdentity,
  prepareSuccessor,
} from '../adapters/platform/identity/load-identity.ts'
import { memoryCheckpoints } from '../adapters/storage/memory/memory-checkpoints.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Command } from '../core/decide.ts'
import type { LogRecord } from '../core/log/event.ts'
import { verifyLog } from '../engine/integrity/verify.ts'
import type { CheckpointStore } from '../ports/checkpoints.ts'
import { environmentOf } from './environment.ts'
import { openRunningEngine, type RunningEngine } from './running-engine.ts'
import { ownKey, trustOf } from './trust.ts'

/*
 * Several homes on one PostgreSQL log, each with an identity and checkpoints of its own. Log and checkpoints are kept in
 * memory: these tests are about which checkpoints a home answers for.
 */

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

class SharedLog extends MemoryLog {
  override readonly kind = 'postgres'
  /** Nothing is found by its type any more, as when every event is filed under another domain. */
  isMisfiled = false
  /** Called after each batch is stored. */
  onAppended: () => void = () => undefined

  override async append(...args: Parameters<MemoryLog['append']>): ReturnType<MemoryLog['append']> {
    const result = await super.append(...args)
    this.onAppended()
    return result
  }

  override async read(query: Parameters<MemoryLog['read']>[0]): ReturnType<MemoryLog['read']> {
    return this.isMisfiled && query.types !== undefined ? [] : super.read(query)
  }
}

const recordsOf = (log: MemoryLog): Promise<readonly LogRecord[]> => log.read({ order: 'asc', limit: 10_000 })

const logOf = async (records: readonly LogRecord[]): Promise<SharedLog> => {
  const log = new SharedLog()
  for (const record of records) await log.append([record], await log.head())
  return log
}

/** The checkpoint file of one home. */
class Notes {
  readonly written: string[]
  onAppended: () => void = () => undefined

  constructor(written: readonly string[] = []) {
    this.written = [...written]
  }

  async store(): Promise<CheckpointStore> {
    const kept = memoryCheckpoints()
    for (const note of this.written) await kept.append(note)
    const append = async (note: string): Promise<void> => {
      await kept.append(note)
      this.written.push(note)
      this.onAppended()
    }
    return { ...kept, append }
  }
}

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** No checkpoint comes by itself: only those of starts and stops are made. */
const SETTINGS = {
  ...DEFAULT_CONFIGURATION,
  store: { ...DEFAULT_CONFIGURATION.store, checkpoint_every_seconds: 3600, checkpoint_every_events: 100_000 },
}

/** `SVC_DEV_MODE` saves the identity; without it each process has one of its own. */
const newHome = async (variables: Readonly<Record<string, string>> = { SVC_DEV_MODE: '1' }) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-homes-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  const environment = environmentOf(folder, variables, 'test')
  const options = { home: folder, password: undefined, devMode: true, nodePrefix: 'svc', clock: Date }
  const keyOf = ({ nodeId, publicKey }: { readonly nodeId: string; readonly publicKey: string }) => ({
    node_id: nodeId,
    public_key: publicKey,
    reason: 'test',
  })
  return {
    key: async () => keyOf((await loadIdentity(options)).identity),
    successor: async () => keyOf(await prepareSuccessor(options)),
    installSuccessor: () => installSuccessor(folder),
    open: async (log: MemoryLog, notes: Notes): Promise<RunningEngine> => {
      const running = await openRunningEngine({
        environment,
        configuration: SETTINGS,
        settings: () => SETTINGS,
        store: { log, checkpoints: await notes.store(), place: null },
        logger: quiet,
        announce: 'always',
      })
      endings.push(() => running.close())
      return running
    },
    verify: async (log: MemoryLog, notes: Notes, mode: 'full' | 'fast' = 'full') => {
      const trust = await trustOf(folder, await ownKey(folder), null)
      return verifyLog(log, { mode, n: 1, checkpoints: await notes.store(), trust, clock: Date })
    },
  }
}

type Home = Awaited<ReturnType<typeof newHome>>

const done = async ({ engine }: RunningEngine, command: Command): Promise<void> => {
  expect(await engine.execute(command)).toMatchObject({ status: 'done' })
}

/** Starts the home and stops it; its log must verify, and it must not lock the engine. */
const startsWell = async (home: Home, log: MemoryLog, notes: Notes): Promise<void> => {
  const running = await home.open(log, notes)
  const { level, reason } = running.engine.state.trading.killSwitch
  expect({ ...running.integrity, level, reason }).toMatchObject({ ok: true, reason: null, level: 0 })
  await running.close()
}

/** Home A has written the log and admitted the key of home B, which has not started yet. */
const twoHomes = async () => {
  const [a, b] = [await newHome(), await newHome()]
  const [log, ofA, ofB] = [new SharedLog(), new Notes(), new Notes()]
  const first = await a.open(log, ofA)
  await done(first, { kind: 'admit-key', key: await b.key() })
  await first.close()
  return { log, a, b, ofA, ofB }
}

describe('homes on one log', () => {
  it('start and stop without locking each other', async () => {
    const { log, a, b, ofA, ofB } = await twoHomes()
    await startsWell(b, log, ofB)
    await startsWell(a, log, ofA)
    await startsWell(b, log, ofB)
    expect(await a.verify(log, ofA)).toMatchObject({ ok: true })
    expect(await b.verify(log, ofB)).toMatchObject({ ok: true })
  })

  it('without saved identities do not lock each other either', async () => {
    const log = new SharedLog()
    const [a, b, ofA, ofB] = [await newHome({}), await newHome({}), new Notes(), new Notes()]
    await startsWell(a, log, ofA)
    await startsWell(b, log, ofB)
    await startsWell(a, log, ofA)
    await startsWell(a, log, ofA)
    await startsWell(b, log, ofB)
  })

  it('go on after a kill at any moment of a start, while another home writes', async () => {
    const { log, a, b, ofA, ofB } = await twoHomes()
    const crashes: { readonly events: number; readonly notes: readonly string[] }[] = []
    const remember = async (): Promise<void> => {
      crashes.push({ events: (await log.head()).seq, notes: [...ofB.written] })
    }
    log.onAppended = () => void remember()
    ofB.onAppended = () => void remember()
    await startsWell(b, log, ofB)
    log.onAppended = () => undefined
    // Its first event, its first checkpoint, the record of that, and the last checkpoint.
    expect(crashes.length).toBeGreaterThanOrEqual(4)
    const records = await recordsOf(log)
    for (const { events, notes } of crashes) {
      const left = await logOf(records.slice(0, events))
      await startsWell(a, left, new Notes(ofA.written))
      await startsWell(b, left, new Notes(notes))
    }
  })
})

describe('a home on a shared log', () => {
  it('misses the checkpoints that it has recorded, all of them or the newest', async () => {
    const { log, a, b, ofA, ofB } = await twoHomes()
    await startsWell(b, log, ofB)
    const older = [...ofB.written]
    await startsWell(a, log, ofA)
    await startsWell(b, log, ofB)
    await startsWell(b, log, ofB)
    const missing = { ok: false, reason: 'checkpoint', checks: { checkpoint: 'fail' } }
    for (const kept of [[], older]) expect(await b.verify(log, new Notes(kept))).toMatchObject(missing)
    expect(await a.verify(log, new Notes())).toMatchObject(missing)
    expect(await b.verify(log, ofB)).toMatchObject({ ok: true })
  })

  it('misses them also where the records of them are filed under another type', async () => {
    const { log, a, ofA } = await twoHomes()
    log.isMisfiled = true
    for (const mode of ['full', 'fast'] as const) {
      expect((await a.verify(log, ofA, mode)).checks.checkpoint).toBe('pass')
      expect((await a.verify(log, new Notes(), mode)).checks.checkpoint).toBe('fail')
    }
  })

  it('finds a cut end by its newest checkpoint, whoever signed the events behind it', async () => {
    const { log, a, b, ofA, ofB } = await twoHomes()
    await startsWell(b, log, ofB)
    await startsWell(a, log, ofA)
    const records = await recordsOf(log)
    const cut = await logOf(records.slice(0, -1))
    expect(await a.verify(cut, ofA)).toMatchObject({
      ok: false,
      reason: 'truncated',
      first_bad_seq: records.length,
    })
  })

  it('answers after a rotation for what its old key has recorded', async () => {
    const { log, a, ofA } = await twoHomes()
    const running = await a.open(log, ofA)
    await done(running, { kind: 'rotate-key', successor: await a.successor() })
    await running.close()
    await a.installSuccessor()
    expect(await a.verify(log, ofA)).toMatchObject({ ok: true })
    expect(await a.verify(log, new Notes())).toMatchObject({ ok: false, reason: 'checkpoint' })
  })
})
