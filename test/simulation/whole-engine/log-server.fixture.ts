import { MemoryLog } from '../../../src/adapters/storage/memory/memory-log.ts'
import { MemoryStore } from '../../../src/adapters/storage/memory/memory-store.ts'
import type { Head, LogRecord } from '../../../src/core/log/event.ts'
import {
  StoreUnavailableError,
  type AppendResult,
  type EventLog,
  type LogQuery,
  type Snapshot,
} from '../../../src/ports/event-log.ts'
import type { Leadership, Lease } from '../../../src/ports/leadership.ts'
import type { Owner, World } from './world.fixture.ts'

interface Pending {
  readonly records: readonly LogRecord[]
  readonly expected: Head
  readonly leaderToken: number | null
}

/** A lease as stored in the database. */
interface HeldLease {
  readonly owner: Owner
  readonly token: number
  /** Time at which a heartbeat last arrived. */
  confirmedMs: number
  /** Time until which heartbeats are lost. */
  lostUntilMs: number
}

/** Time without a heartbeat after which another process may lead. */
const LEASE_MS = 5000
/** Time for which the leader itself relies on a heartbeat, which is a little shorter. */
const VALID_MS = 4000
const HEARTBEAT_MS = 1300

/** A database that several processes use, and that outlives them. Only committed data stays. */
export class LogServer {
  readonly store = new MemoryStore()
  readonly #world: World
  readonly #log = new MemoryLog(this.store)
  readonly #watchers = new Set<() => void>()
  /** Batches that arrived and are not committed yet, in order. A power cut or a failover decides about them. */
  readonly #pending: Pending[] = []
  #downUntilMs = 0
  #fullUntilMs = 0
  readonly #cutOff = new Map<string, number>()
  #lease: HeldLease | null = null
  #token = 0

  constructor(world: World) {
    this.#world = world
  }

  /** The log as a process sees it, through its own connection. */
  connect(owner: Owner): EventLog {
    const world = this.#world
    let lastAppendMs = 0
    const watching = new Set<() => void>()
    const read = <Value>(label: string, effect: () => Promise<Value>): Promise<Value> =>
      this.#call(owner, label, effect)
    return {
      kind: 'memory',
      head: () => read('head', () => this.#log.head()),
      append: (records, expected, leaderToken = null) => {
        const random = world.random('log')
        // Appends stay in order, however long each takes.
        lastAppendMs = Math.max(lastAppendMs, world.nowMs + random.below(4))
        return this.#append(owner, { records, expected, leaderToken }, lastAppendMs - world.nowMs)
      },
      read: (query: LogQuery) => read('read', () => this.#log.read(query)),
      readByTime: (query) => read('readByTime', () => this.#log.readByTime(query)),
      count: (prefix) => read('count', () => this.#log.count(prefix)),
      countByDomain: () => read('countByDomain', () => this.#log.countByDomain()),
      get: (id) => read('get', () => this.#log.get(id)),
      findByDedupeKeys: (keys) => read('findByDedupeKeys', () => this.#log.findByDedupeKeys(keys)),
      saveSnapshot: (snapshot: Snapshot) =>
        this.#call(owner, 'saveSnapshot', () => this.#log.saveSnapshot(snapshot)),
      loadSnapshot: (version, signer) => read('loadSnapshot', () => this.#log.loadSnapshot(version, signer)),
      watch: (onAppended) => {
        const notify = (): void => {
          const delayMs = Math.max(1, (this.#cutOff.get(owner.name) ?? 0) - world.nowMs)
          world.schedule(delayMs, 'notified', owner, onAppended)
        }
        this.#watchers.add(notify)
        watching.add(notify)
        return () => void this.#watchers.delete(notify)
      },
      scan: (range) => this.#log.scan(range),
      verifyHashes: (range) => this.#log.verifyHashes(range),
      treeNodes: (range) => this.#log.treeNodes(range),
      sizeBytes: () => Promise.resolve(0),
      close: async () => {
        for (const notify of watching) this.#watchers.delete(notify)
      },
    }
  }

  /** Leadership of one process at a time, as long as its heartbeats arrive. */
  leadershipOf(owner: Owner): Leadership {
    return {
      tryToLead: (above) =>
        this.#call(owner, 'tryToLead', async (): Promise<Lease | null> => {
          if (this.leader !== null) return null
          this.#world.count('leaderships')
          this.#token = Math.max(this.#token, above) + 1
          const held = { owner, token: this.#token, confirmedMs: this.#world.nowMs, lostUntilMs: 0 }
          this.#lease = held
          return this.#keep(held)
        }),
      close: () => Promise.resolve(),
    }
  }

  get leader(): Owner | null {
    const lease = this.#lease
    return lease === null || lease.confirmedMs + LEASE_MS <= this.#world.nowMs ? null : lease.owner
  }

  #keep(held: HeldLease): Lease {
    const world = this.#world
    const { owner } = held
    let confirmedMs = world.nowMs
    let isOver = false
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => {
      end = () => {
        isOver = true
        resolve()
      }
    })
    const beat = (): void =>
      world.schedule(HEARTBEAT_MS, 'heartbeat', owner, () => {
        if (isOver) return
        const arrives = this.#unavailable(owner) === null && held.lostUntilMs <= world.nowMs
        if (arrives && this.#lease !== held) {
          end()
          return
        }
        if (arrives) {
          held.confirmedMs = world.nowMs
          confirmedMs = world.nowMs
        }
        beat()
      })
    beat()
    return {
      token: held.token,
      isValid: () => !isOver && world.nowMs - confirmedMs < VALID_MS,
      ended,
      release: async () => {
        end()
        // If the database is unreachable, the lease expires by itself.
        if (this.#lease === held && this.#unavailable(owner) === null) this.#lease = null
      },
    }
  }

  /** Stores a random part of the pending batches. Acknowledged batches are stored for good. */
  cutPower(): void {
    const random = this.#world.random('log')
    for (const pending of this.#pending.splice(0)) {
      if (!random.happens(0.5)) break
      this.#commit(pending)
    }
  }

  failOver(): void {
    this.cutPower()
    this.#downUntilMs = this.#world.nowMs + 500 + this.#world.random('log').below(8000)
  }

  fillDisk(): void {
    this.#fullUntilMs = this.#world.nowMs + this.#world.random('log').below(10_000)
  }

  cutOff(owner: Owner): void {
    this.#cutOff.set(owner.name, this.#world.nowMs + this.#world.random('log').below(15_000))
  }

  /** Loses the heartbeats of the leader: another process leads, and this one notices later. */
  loseHeartbeats(forMs: number): void {
    if (this.#lease !== null) this.#lease.lostUntilMs = this.#world.nowMs + forMs
  }

  heal(): void {
    this.#downUntilMs = 0
    this.#fullUntilMs = 0
    this.#cutOff.clear()
    if (this.#lease !== null) this.#lease.lostUntilMs = 0
  }

  #unavailable(owner: Owner): StoreUnavailableError | null {
    const { nowMs } = this.#world
    if (this.#downUntilMs > nowMs) return new StoreUnavailableError('the database is away')
    if ((this.#cutOff.get(owner.name) ?? 0) > nowMs) return new StoreUnavailableError('no connection')
    return null
  }

  #call<Value>(owner: Owner, label: string, effect: () => Promise<Value>): Promise<Value> {
    const world = this.#world
    const random = world.random('log')
    const checked = async (): Promise<Value> => {
      const problem = this.#unavailable(owner)
      if (problem !== null) throw problem
      return effect()
    }
    // Most reads are answered at once, so that a run has more time for important steps.
    if (!random.happens(0.15)) return owner.isOver ? new Promise(() => undefined) : checked()
    const [outMs, backMs] = [random.below(3), random.below(3)]
    return world.call({ owner, label, outMs, backMs, survives: false, effect: checked })
  }

  /** An append arrives, is committed and synced, and is answered: three steps. */
  #append(owner: Owner, pending: Pending, outMs: number): Promise<AppendResult> {
    const world = this.#world
    const random = world.random('log')
    const count = pending.records.length
    return world.call({
      owner,
      label: `append ${count}`,
      outMs,
      backMs: random.below(3),
      survives: false,
      effect: () =>
        new Promise<AppendResult>((resolve, reject) => {
          const problem = this.#unavailable(owner) ?? this.#fullDisk()
          if (problem !== null) {
            reject(problem)
            return
          }
          this.#pending.push(pending)
          world.schedule(random.below(3), `commit ${count}`, null, () => {
            const index = this.#pending.indexOf(pending)
            // Power was cut, or the old server is gone: the outcome was already decided.
            if (index === -1) {
              reject(new StoreUnavailableError('the connection broke'))
              return
            }
            this.#pending.splice(index, 1)
            if (world.goesWrong('sync_fails', 0.004)) {
              if (random.happens(0.5)) this.#commit(pending)
              reject(new StoreUnavailableError('the sync failed'))
              return
            }
            const result = this.#commit(pending)
            if (world.goesWrong('store_answer_lost', 0.004))
              reject(new StoreUnavailableError('the connection broke'))
            else resolve(result)
          })
        }),
    })
  }

  #fullDisk(): StoreUnavailableError | null {
    return this.#fullUntilMs > this.#world.nowMs ? new StoreUnavailableError('the disk is full') : null
  }

  /** Commits by the rules of the port, which the log in memory follows. */
  #commit({ records, expected, leaderToken }: Pending): AppendResult {
    if (leaderToken !== null && leaderToken !== this.#token) {
      this.#world.count('old leaders refused')
      return { status: 'fenced' }
    }
    const { records: stored } = this.store
    const last = stored.at(-1)
    const isHead = (last?.seq ?? 0) === expected.seq && (last === undefined || last.hash === expected.hash)
    if (!isHead) {
      this.#world.count('head moved')
      return { status: 'head-moved' }
    }
    // Synchronous up to its result: the records are in the store when `append` returns.
    this.#log.append(records, expected).catch((error: unknown) => this.#world.fail(error))
    for (const notify of this.#watchers) notify()
    return { status: 'appended' }
  }
}
