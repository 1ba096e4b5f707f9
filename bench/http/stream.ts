import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startTestServer, TOKEN, type TestServer } from '../../src/surfaces/http/test-server.fixture.ts'
import { appendTo } from '../../test/records.ts'
import { interleave, loopDelayP99Ms, medianRatio, quantile, rateOf, type BenchRow } from '../harness.ts'
import { startBareStream } from './bare-stream.ts'
import type { Ask, Tell } from './listeners-thread.ts'
import { startTextbookStream } from './textbook-stream.ts'

const CLIENTS = 1_000
const WARM_UP_ROUNDS = 1
const EVENTS_PER_ROUND = 400
/** Stored together, as the engine does with what comes in at the same time. */
const BATCH = 10
const PACED_EVENTS_PER_SECOND = 100
const PACED_EVENTS = 1_000
const IDLE_MS = 2000
const OURS = 'ours'
const TEXTBOOK = 'textbook'
const BARE = 'bare'

/** T10: events told to many clients, against a textbook server on the same kind of engine in the same rounds. */
export const benchStream = async (rounds = 7): Promise<readonly BenchRow[]> => {
  const ours = await startTestServer({ settings: SETTINGS })
  const listeners = startListeners()
  try {
    await listeners.connect(OURS, ours.port, '/api/v1/events/stream?domain=signal')
    const delays = await pacedDelays(OURS, listeners, () => store(ours, 1))
    const bareDelays = await bareDelaysOf(listeners)
    const rates = await ratesOf(ours, listeners, rounds)
    const { fewest, most } = await listeners.report(OURS)
    const told = PACED_ROUNDS * PACED_EVENTS + (WARM_UP_ROUNDS + rounds) * EVENTS_PER_ROUND
    const delayRow = (id: string, latenciesMs: Float64Array, readers: string, target: string): BenchRow => ({
      id,
      what: `ms from storing to arrival at ${PACED_EVENTS_PER_SECOND} events/s, ${CLIENTS} clients, p99`,
      value: quantile(latenciesMs, 0.99),
      target,
      baseline: `none; p50 ${quantile(latenciesMs, 0.5).toFixed(1)} ms; ${readers}`,
    })
    return [
      {
        id: 'T10',
        what: `events told per second, ${CLIENTS} clients`,
        value: medianRatio(rates.ours, rates.textbook),
        target: '>= 6',
        baseline: 'stringify and write per event and client',
      },
      delayRow('T10 p99', delays.apart, 'clients that leave the processor to the server', '<= 15'),
      {
        id: 'T10 loop',
        what: "the server's event-loop delay p99 meanwhile",
        value: delays.loopRatio,
        target: '<= 3',
        baseline: 'its idle loop',
      },
      delayRow('T10 here', delays.beside, 'clients that read at once, beside the server', ''),
      delayRow('T10 bare', bareDelays.apart, 'a bare loop that writes, instead of the server', ''),
      {
        id: 'T10 missed',
        what: 'events that a client missed or heard twice',
        value: Math.max(told - fewest, most - told),
        target: '0',
        baseline: 'none',
      },
    ]
  } finally {
    await listeners.close()
    await ours.close()
  }
}

const SETTINGS = { stream: { buffer_events: 100_000 }, logging: { level: 'ERROR' } } as const

interface Delays {
  /** Of clients as on machines of their own. */
  readonly apart: Float64Array
  /** Of clients that take one of the two cores of a small machine. */
  readonly beside: Float64Array
  /** Of the loop that tells clients apart, against the idle one. */
  readonly loopRatio: number
}

/** One until translated code runs, since a service runs for weeks; and one for each kind of client. */
const PACED_ROUNDS = 3

/** Before the textbook's server is there: nothing else runs in the process. */
const pacedDelays = async (
  group: string,
  listeners: Listeners,
  tellOne: () => Promise<void>,
): Promise<Delays> => {
  const measure = async (): Promise<Float64Array> => {
    await tellPaced(group, listeners, tellOne)
    return (await listeners.report(group)).latenciesMs
  }
  await measure()
  const beside = await measure()
  listeners.rest(group, true)
  const idleMs = await loopDelayP99Ms(() => sleep(IDLE_MS))
  let apart = beside
  const busyMs = await loopDelayP99Ms(async () => {
    apart = await measure()
  })
  listeners.rest(group, false)
  return { apart, beside, loopRatio: busyMs / idleMs }
}

/** What the writes alone take on this machine, whoever does them; what waits for them is not counted. */
const bareDelaysOf = async (listeners: Listeners): Promise<Delays> => {
  const bare = await startBareStream()
  try {
    await listeners.connect(BARE, bare.port, '/')
    return await pacedDelays(BARE, listeners, () => Promise.resolve(bare.tell(signalPayload(0))))
  } finally {
    await bare.close()
  }
}

const ratesOf = async (
  ours: TestServer,
  listeners: Listeners,
  rounds: number,
): Promise<{ readonly ours: readonly number[]; readonly textbook: readonly number[] }> => {
  const theirs = await startTestServer({ settings: SETTINGS })
  const textbook = await startTextbookStream(theirs.engine)
  try {
    await listeners.connect(TEXTBOOK, textbook.port, '/')
    const measure = (count: number) =>
      interleave(count, {
        ours: () => deliveriesPerSecond(ours, listeners, OURS),
        textbook: () => deliveriesPerSecond(theirs, listeners, TEXTBOOK),
      })
    await measure(WARM_UP_ROUNDS)
    return await measure(rounds)
  } finally {
    await textbook.close()
    await theirs.close()
  }
}

interface Listeners {
  connect(group: string, port: number, path: string): Promise<void>
  /** Resolves once each client of the group heard this many more events. */
  hear(group: string, events: number): Promise<void>
  /** Whether those who are not timed fetch what arrived only now and then. */
  rest(group: string, isResting: boolean): void
  report(group: string): Promise<Extract<Tell, { kind: 'report' }>>
  close(): Promise<void>
}

const startListeners = (): Listeners => {
  const thread = new Worker(new URL('listeners-thread.ts', import.meta.url))
  const awaited = new Map<string, number>()
  const ask = (what: Ask): void => thread.postMessage(what, [])
  const told = <Kind extends Tell['kind']>(
    kind: Kind,
    group: string,
  ): Promise<Extract<Tell, { kind: Kind }>> =>
    new Promise((resolve, reject) => {
      const hear = (tell: Tell): void => {
        if (tell.kind !== kind || tell.group !== group) return
        thread.off('message', hear)
        thread.off('error', reject)
        resolve(tell as Extract<Tell, { kind: Kind }>)
      }
      thread.on('message', hear)
      thread.on('error', reject)
    })
  return {
    connect: async (group, port, path) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`
      ask({ kind: 'connect', group, port, request, count: CLIENTS })
      await told('connected', group)
    },
    hear: async (group, events) => {
      const messages = (awaited.get(group) ?? 0) + events * CLIENTS
      awaited.set(group, messages)
      ask({ kind: 'await', group, messages })
      await told('heard', group)
    },
    rest: (group, isResting) => ask({ kind: 'rest', group, isResting }),
    report: (group) => {
      ask({ kind: 'report', group })
      return told('report', group)
    },
    close: async () => {
      await thread.terminate()
    },
  }
}

const deliveriesPerSecond = async (
  server: TestServer,
  listeners: Listeners,
  group: string,
): Promise<number> => {
  return rateOf(EVENTS_PER_ROUND * CLIENTS, async () => {
    const heard = listeners.hear(group, EVENTS_PER_ROUND)
    for (let stored = 0; stored < EVENTS_PER_ROUND; stored += BATCH) {
      await store(server, BATCH)
      await setImmediate()
    }
    await heard
  })
}

const tellPaced = async (
  group: string,
  listeners: Listeners,
  tellOne: () => Promise<void>,
): Promise<void> => {
  const heard = listeners.hear(group, PACED_EVENTS)
  const beganMs = performance.now()
  for (let count = 0; count < PACED_EVENTS; count += 1) {
    const dueMs = beganMs + (count * 1_000) / PACED_EVENTS_PER_SECOND
    await sleep(Math.max(0, dueMs - performance.now()))
    await tellOne()
  }
  await heard
}

/** As another process would: the engine folds them and tells of them. */
const store = async ({ log }: TestServer, count: number): Promise<void> => {
  await appendTo(log, count, (seq) => ({
    type: 'signal.ta.rsi.v1',
    source: 'producer:technical-analysis',
    payload: signalPayload(seq),
  }))
}

const signalPayload = (seq: number) => ({
  conviction: (seq % 100) / 10,
  direction: 'long',
  indicator: 'rsi',
  rationale: 'RSI crossed the lower band on the four hour chart and turned up with rising volume',
  sent_ns: process.hrtime.bigint().toString().padStart(20, '0'),
  symbol: 'BTC',
  timeframe: '4h',
  value: 31.25,
})
