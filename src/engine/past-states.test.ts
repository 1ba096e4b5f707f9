import { beforeAll, describe, expect, it } from 'vitest'
import { busyDay, DAY_BEGAN_MS, simulateDay } from '../../test/simulated-day.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { Configuration } from '../core/config/schema.ts'
import { parsePastPoint } from '../core/shared/as-of.ts'
import type { Timestamp } from '../core/shared/brand.ts'
import { timestampAt } from '../core/shared/time.ts'
import type { State } from '../core/state.ts'
import { viewBrainStatus } from '../core/views/brain.ts'
import { viewKillSwitch } from '../core/views/kill-switch.ts'
import { viewPortfolio } from '../core/views/portfolio.ts'
import { viewPositions } from '../core/views/positions.ts'
import { scoringIn, viewLeaderboard } from '../core/views/reputation.ts'
import type { EventLog } from '../ports/event-log.ts'
import { openEngine } from './engine.fixture.ts'
import { PastStates } from './past-states.ts'
import { weightsOf } from './queries/views.ts'
import { stateHashOf } from './memory.ts'

/** All views of a past state, as text. */
const viewsOf = async (
  state: State,
  log: Pick<EventLog, 'read' | 'get'>,
  configuration: Configuration,
  now: Timestamp,
): Promise<string> =>
  JSON.stringify({
    brain: viewBrainStatus(state),
    killSwitch: viewKillSwitch(state.trading.killSwitch),
    positions: viewPositions(state.trading.positions, { status: 'all', limit: 100 }),
    portfolio: viewPortfolio(state, configuration, now),
    scores: viewLeaderboard(
      state.signals.contributors,
      scoringIn(state.reputation, now, configuration.karma),
      100,
    ),
    weights: await weightsOf({ log, fresh: () => Promise.resolve(state) }, configuration, {
      clock: { now: () => Date.parse(now) },
      limit: 20,
    }),
  })

const AHEAD = Date.parse('2027-01-01T00:00:00.000Z')

describe('the state as it was', () => {
  let day: Awaited<ReturnType<typeof simulateDay>>
  const then = new Map<number, { readonly views: string; readonly hash: string; readonly time: string }>()

  beforeAll(async () => {
    let minutes = 0
    day = await simulateDay({
      hours: 4,
      act: busyDay,
      onMinute: async ({ engine, configuration }) => {
        const { state } = engine
        minutes += 1
        if (minutes % 24 !== 0) return
        const views = await viewsOf(state, engine.log, configuration, state.decidedAt)
        then.set(state.seq, { views, hash: stateHashOf(state), time: state.recordedAt })
      },
    })
  })

  it('is what it was when it was the present, for events in any order', async () => {
    const past = new PastStates(day.log, day.trust)
    const seqs = [...then.keys()]
    const shuffled = seqs.filter((_, index) => index % 2 === 1).toReversed()
    expect(seqs.length).toBe(10)
    let different = 0
    for (const seq of [...seqs.filter((_, index) => index % 2 === 0), ...shuffled]) {
      const answer = await past.at({ kind: 'seq', seq }, AHEAD)
      if (answer.status !== 'found') throw new Error(answer.status)
      const { state, log, now, configuration, time } = answer.past
      if (configuration === null) throw new Error('the settings were not recorded')
      const expected = then.get(seq)
      expect(await viewsOf(state, log, configuration, now)).toBe(expected?.views)
      expect(stateHashOf(state)).toBe(expected?.hash)
      expect(time).toBe(expected?.time)
      if (expected?.views !== (await viewsOf(state, log, day.configuration, now))) different += 1
    }
    // Other settings give other views, so the comparison above proves which settings are used.
    expect(different).toBeGreaterThan(0)
  })

  it('is that of the last event at the time', async () => {
    const past = new PastStates(day.log, day.trust)
    const atMs = DAY_BEGAN_MS + 2 * 3_600_000 + 30_000
    const answer = await past.at({ kind: 'time', time: timestampAt(atMs) }, AHEAD)
    if (answer.status !== 'found') throw new Error(answer.status)
    const { seq, time, now } = answer.past
    const [last, next] = await day.log.read({ after: seq - 1, order: 'asc', limit: 2 })
    expect(Date.parse(last?.recordedAt ?? '')).toBeLessThanOrEqual(atMs)
    expect(Date.parse(next?.recordedAt ?? '')).toBeGreaterThan(atMs)
    expect([time, now]).toEqual([timestampAt(atMs), timestampAt(atMs)])
  })

  it('can be asked for inside a batch, without calling signed events unsigned', async () => {
    const records = await day.log.read({ order: 'asc', limit: 100_000 })
    const inside = records.find(({ batchSignature }) => batchSignature === null)
    const past = new PastStates(day.log, day.trust)
    const answer = await past.at({ kind: 'seq', seq: inside?.seq ?? 0 }, AHEAD)
    expect(answer).toMatchObject({ past: { state: { seq: inside?.seq, operations: { unsigned: [] } } } })
  })

  it('reads nothing of what came later', async () => {
    const past = new PastStates(day.log, day.trust)
    const { seq: head } = await day.log.head()
    const answer = await past.at({ kind: 'seq', seq: 20 }, AHEAD)
    if (answer.status !== 'found') throw new Error(answer.status)
    const { log } = answer.past
    expect((await log.read({ order: 'desc', limit: 1 }))[0]?.seq).toBe(20)
    const [later] = await day.log.read({ after: head - 1, order: 'asc', limit: 1 })
    expect(await log.get(later?.id ?? '')).toBeNull()
  })

  it('says why there is none', async () => {
    const past = new PastStates(day.log, day.trust)
    const { seq: head } = await day.log.head()
    const ask = async (point: string, nowMs = AHEAD) => {
      const parsed = parsePastPoint(point)
      if (parsed === null) return null
      const answer = await past.at(parsed, nowMs)
      return answer.status === 'out-of-range' ? answer.detail : answer.status
    }
    expect(await ask(String(head + 1))).toBe(`the last event has number ${head}`)
    expect(await ask('0')).toBe('the first event has number 1')
    expect(await ask('2020-01-01')).toMatch(/^the first event was recorded at 2026-02-/)
    expect(await ask('2026-02-20T05:00:00Z', DAY_BEGAN_MS)).toBe('2026-02-20T05:00:00.000Z has not come yet')
    for (const rubbish of ['', '-1', '1.5', 'yesterday', '2026-02-30', '1e3', ' 5'])
      expect(await ask(rubbish)).toBeNull()
    const empty = await new PastStates(new MemoryLog(), null).at({ kind: 'seq', seq: 1 }, AHEAD)
    expect(empty).toMatchObject({ status: 'out-of-range', detail: 'the log has no events yet' })
  })

  it('is folded by one at a time, and only so many wait', async () => {
    let reading = 0
    let most = 0
    const log: EventLog = Object.create(day.log) as EventLog
    log.read = async (query) => {
      reading += 1
      most = Math.max(most, reading)
      const page = await day.log.read(query)
      reading -= 1
      return page
    }
    log.head = () => day.log.head()
    log.loadSnapshot = (version, signer) => day.log.loadSnapshot(version, signer)
    const past = new PastStates(log, null)
    const asked = Array.from({ length: 12 }, (_, index) => past.at({ kind: 'seq', seq: 500 - index }, AHEAD))
    const answers = await Promise.all(asked)
    expect(answers.filter(({ status }) => status === 'busy')).toHaveLength(4)
    expect(most).toBeLessThanOrEqual(2)
    expect((await past.at({ kind: 'seq', seq: 3 }, AHEAD)).status).toBe('found')
  })
})

it('ends with the event that is asked for, and not with the one before', async () => {
  const log = new MemoryLog()
  const engine = await openEngine(log)
  for (const level of [1, 2, 3] as const) {
    const move = { level, reason: `level ${level}`, operator: 'op', surface: 'api' } as const
    await engine.execute({ kind: 'set-kill-switch', move })
  }
  const records = await log.read({ order: 'asc', limit: 100 })
  const moves = records.filter(({ type }) => type === 'system.kill_switch.v1')
  expect(moves).toHaveLength(3)
  for (const [index, { seq }] of moves.entries())
    for (const [place, level] of [
      [seq - 1, index],
      [seq, index + 1],
    ] as const) {
      if (place === 0) continue
      const found = await new PastStates(log, null).at({ kind: 'seq', seq: place }, AHEAD)
      const { state } = found.status === 'found' ? found.past : { state: null }
      expect([place, state?.seq, state?.trading.killSwitch.level]).toEqual([place, place, level])
    }
  await engine.close()
})
