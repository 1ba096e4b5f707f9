import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isFull, processorBudget, seedAt } from '../../generated.fixture.ts'
import { ALL_FAULTS, DEFAULT_FAULTS, faultsOf } from './faults.fixture.ts'
import { simulate } from './simulate.fixture.ts'

/** Set SVC_TEST_SEEDS=1000 for a longer run. Use `npm run simulate` for an endless one. */
const ASKED_FOR = process.env['SVC_TEST_SEEDS']
const SEEDS = Number(ASKED_FOR ?? 200)
/** Number of seeds per test, so that the list stays short. */
const GROUP = 20

/** Seeds that always run. Together they reach each of HAPPENED twice, and detect the mistakes of test/mutants. */
const KNOWN_SEEDS = [1, 3, 7, 30, 62, 88, 124, 154, 159]
/** Runs of which every decision is made again. */
const AUDITED_SEEDS: ReadonlySet<number> = new Set([3, 62, 154])
/** Seconds of processor time for seeds that change with each commit. */
const OTHER_SEEDS_SECONDS = 5

/** Number of occurrences in all runs together. */
const THREADS_OF_THE_POOL = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4)

const totals = new Map<string, number>()

/** Runs a seed. Returns the number of comparisons of the books. */
const runSeed = async (seed: number): Promise<number> => {
  try {
    const { counts } = await simulate({ seed, rounds: 1, isAudited: AUDITED_SEEDS.has(seed) })
    for (const [name, count] of counts) totals.set(name, (totals.get(name) ?? 0) + count)
    return counts.get('books compared') ?? 0
  } catch (error) {
    throw new Error(`seed ${seed}: replay it with npm run simulate -- --seed ${seed} --rounds 1`, {
      cause: error,
    })
  }
}

/** Situations that the runs must reach. Without them a green run would prove nothing. */
const HAPPENED = [
  'runs audited',
  'fills',
  'entries placed',
  'exits placed',
  'stops hit in bars',
  'leaders crashed',
  'leaderships',
  'processes stopped',
  'head moved',
  'errors reported',
  'submissions repeated',
  'trades listed late',
  'entries cut short',
  'funding payments',
  'liquidations',
  'silent closes',
  'books compared after a silent close',
  'event execution.loss_unexplained.v1',
  'event execution.balance_differs.v1',
  'lookups',
  'states compared',
  'books compared',
  'books compared with open positions',
  'client submit-signal done',
  'client approve-intent done',
  'client close-position done',
  'client set-kill-switch done',
  'event brain.cycle.v1',
  'event execution.order_reconciled.v1',
  'event execution.order_unknown.v1',
  'event execution.order_canceled.v1',
  'event execution.position_closed.v1',
  'event alert.stop_triggered',
  'event system.dcg_violation.v1',
  'event system.kill_switch.v1',
]

const missing = (): readonly string[] =>
  [...HAPPENED, ...DEFAULT_FAULTS.map((fault) => `fault ${fault}`)].filter((name) => !totals.has(name))

const groupsOf = (count: number): readonly (readonly [string, () => Iterable<number>])[] =>
  Array.from({ length: Math.ceil(count / GROUP) }, (_, index) => {
    const first = index * GROUP + 1
    const length = Math.min(GROUP, count - first + 1)
    return [`from seed ${first} on`, () => Array.from({ length }, (_each, offset) => first + offset)]
  })

/** Yields at least one seed, then more until the time is spent. */
const otherSeeds = function* (): Iterable<number> {
  const budget = processorBudget(OTHER_SEEDS_SECONDS)
  for (let index = 0; index === 0 || !budget.isSpent(); index += 1) yield seedAt(index)
}

const GROUPS =
  isFull || ASKED_FOR !== undefined
    ? groupsOf(SEEDS)
    : [['with known seeds', () => KNOWN_SEEDS] as const, ['with seeds of this commit', otherSeeds] as const]

let simulated = 0

describe('the whole engine, simulated', () => {
  it.each(GROUPS)(
    'keeps its promises through crashes, faults and a second process, %s',
    async (_name, seeds) => {
      for (const seed of seeds()) {
        expect(await runSeed(seed)).toBe(2)
        simulated += 1
      }
    },
    600_000,
  )

  it('does the same to the last bit for the same seed, however slow the machine is', async () => {
    const [one, again, other] = [
      await simulate({ seed: 7, rounds: 1 }),
      await simulate({ seed: 7, rounds: 1, isSlow: true }),
      await simulate({ seed: 8, rounds: 1 }),
    ]
    expect(again.digest).toBe(one.digest)
    expect(other.digest).not.toBe(one.digest)
  })

  it.skipIf(process.platform === 'win32')('waits for no file of the machine', async () => {
    const { digest } = await simulate({ seed: 7, rounds: 1 })
    const folder = await mkdtemp(join(tmpdir(), 'svc-simulation-'))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    // Each waits for a writer in a thread of the pool, until none is left for other files.
    const waiting = Array.from({ length: THREADS_OF_THE_POOL }, () => open(pipe, 'r'))
    const again = await simulate({ seed: 7, rounds: 1 }).then(
      (result) => result.digest,
      (error: unknown) => `broken: ${String(error)}`,
    )
    const writer = openSync(pipe, 'r+')
    for (const file of await Promise.all(waiting)) await file.close()
    closeSync(writer)
    await rm(folder, { recursive: true })
    expect(again).toBe(digest)
  })

  it('has met everything that it is there for', async () => {
    // A change of the engine also changes the situations that its seeds reach, so more seeds run until none is missing.
    for (let seed = 1; seed <= SEEDS && missing().length > 0; seed += 1) await runSeed(seed)
    expect(missing()).toEqual([])
  })

  it('knows its faults by name', () => {
    expect(faultsOf('none')).toEqual([])
    expect(faultsOf('default,long_ban')).toEqual([...DEFAULT_FAULTS, 'long_ban'])
    expect(faultsOf('all')).toEqual(ALL_FAULTS)
    expect(() => faultsOf('rain')).toThrow('no fault is named rain')
  })
})

afterAll(() => {
  const shown = [...totals].filter(([name]) => name.startsWith('fault') || HAPPENED.includes(name))
  const text = shown
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
  process.stdout.write(`simulated ${simulated} seeds: ${text}\n`)
})
