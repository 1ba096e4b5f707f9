import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { median, medianRatio, type BenchRow } from '../harness.ts'
import { postRequest, startLoad, type Load, type Loaded } from './load.ts'
import { serve, type Served } from './served.ts'

const CONNECTIONS = 64
const ROUND_MS = 2000
const IDLE_MS = 1000
/** Until every thread runs translated code: a service runs for weeks. */
const WARM_UP_MS = 6000

const REQUESTS = [
  postRequest('/signals/submit', {
    event_type: 'signal.curator.v1',
    node_id: 'n1',
    payload: {
      symbol: 'BTC',
      direction: 'bullish',
      conviction: 7.5,
      rationale: 'Funding turned negative while the spot premium held and open interest fell',
    },
  }),
]

interface Round {
  readonly durable: Loaded
  readonly storeless: Loaded
  readonly busyDelayMs: number
  readonly storelessDelayMs: number
  readonly idleDelayMs: number
}

/**
 * T9: submissions that are signed and on the disk before they are answered, with their audit, against the same
 * server, gate, validation and answer with a handler that stores nothing. A bare framework would do less than the
 * route promises, and an engine in memory would still decide, chain and fold: both would measure something else.
 */
export const benchSubmit = async (rounds: number): Promise<readonly BenchRow[]> => {
  const home = await mkdtemp(join(tmpdir(), 'bench-submit-'))
  const load = startLoad()
  const durable = await serve('service', home)
  const storeless = await serve('storeless')
  try {
    await load.send(once(durable, postRequest('/contributors/register', CONTRIBUTOR)))
    await submit(load, durable, WARM_UP_MS)
    await submit(load, storeless, WARM_UP_MS)
    const measured: Round[] = []
    for (let round = 0; round < rounds; round += 1) measured.push(await measure(load, durable, storeless))
    return rowsOf(measured)
  } finally {
    await load.close()
    await durable.close()
    await storeless.close()
    await rm(home, { recursive: true, force: true })
  }
}

const CONTRIBUTOR = { node_id: 'n1', name: 'Ann', role: 'curator', metadata: {} }

const once = ({ port }: Served, request: string) =>
  ({ port, connections: 1, requests: [request], end: { after: 'requests', count: 1 } }) as const

const submit = (load: Load, { port }: Served, durationMs: number): Promise<Loaded> =>
  load.send({
    port,
    connections: CONNECTIONS,
    requests: REQUESTS,
    end: { after: 'milliseconds', count: durationMs },
  })

const measure = async (load: Load, durable: Served, storeless: Served): Promise<Round> => {
  const idle = await durable.delayP99Ms(() => sleep(IDLE_MS))
  const stored = await durable.delayP99Ms(() => submit(load, durable, ROUND_MS))
  const answered = await storeless.delayP99Ms(() => submit(load, storeless, ROUND_MS))
  return {
    durable: stored.done,
    storeless: answered.done,
    busyDelayMs: stored.delayP99Ms,
    storelessDelayMs: answered.delayP99Ms,
    idleDelayMs: idle.delayP99Ms,
  }
}

const rowsOf = (measured: readonly Round[]): readonly BenchRow[] => {
  const ratio = (value: (round: Round) => number, against: (round: Round) => number): number =>
    medianRatio(measured.map(value), measured.map(against))
  const baseline = 'the same route without a store'
  return [
    {
      id: 'T9',
      what: `durable signed submissions/s, ${CONNECTIONS} connections`,
      value: ratio(
        ({ durable }) => durable.perSecond,
        ({ storeless }) => storeless.perSecond,
      ),
      target: '>= 0.30',
      baseline,
    },
    {
      id: 'T9 p99',
      what: `time of a submission, ${CONNECTIONS} connections, p99`,
      value: ratio(
        ({ durable }) => durable.p99Ms,
        ({ storeless }) => storeless.p99Ms,
      ),
      target: '',
      baseline,
    },
    {
      id: 'T9 delay',
      what: "the service's event-loop delay p99 at that load",
      value: ratio(
        ({ busyDelayMs }) => busyDelayMs,
        ({ idleDelayMs }) => idleDelayMs,
      ),
      target: '<= 8',
      baseline: 'its idle loop in the same round',
    },
    {
      id: 'T9 loop',
      what: "the service's event-loop delay p99 at that load",
      value: ratio(
        ({ busyDelayMs }) => busyDelayMs,
        ({ storelessDelayMs }) => storelessDelayMs,
      ),
      target: '',
      baseline: `${baseline}, as many connections`,
    },
    {
      id: 'T9/s',
      what: `durable signed submissions/s, ${CONNECTIONS} connections`,
      value: median(measured.map(({ durable }) => durable.perSecond)),
      target: '',
      baseline: 'plain figure of this machine',
    },
  ]
}
