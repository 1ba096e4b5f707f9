import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'
import { sampleEvents } from '../store/sample-events.ts'
import { appendAll } from '../store/sqlite-fill.ts'
import { getRequest, startLoad, type Load } from './load.ts'
import { serve, type Served } from './served.ts'

const PAGE = getRequest('/signals?limit=100')
const FEW_EVENTS = 10_000
const BATCH = 1000
const PAGES_PER_ROUND = 500
const WARM_UP_PAGES = 2000
const READERS = 256
const READING_MS = 2000
const IDLE_MS = 1000

/** A page of the newest signals must not cost more because there are many older ones. */
export const benchSignalPages = async (events: number, rounds: number): Promise<readonly BenchRow[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-pages-'))
  const load = startLoad()
  const servers: Served[] = []
  try {
    const few = await serveFilled(join(folder, 'few.db'), FEW_EVENTS)
    servers.push(few)
    const many = await serveFilled(join(folder, 'many.db'), events)
    servers.push(many)
    const pageMs = async ({ port }: Served, count: number): Promise<number> => {
      const end = { after: 'requests', count } as const
      const { p50Ms } = await load.send({ port, connections: 1, requests: [PAGE], end })
      return p50Ms
    }
    for (const server of servers) await pageMs(server, WARM_UP_PAGES)
    const measured = await interleave(rounds, {
      few: () => pageMs(few, PAGES_PER_ROUND),
      many: () => pageMs(many, PAGES_PER_ROUND),
    })
    const delays = await interleave(rounds, { ratio: () => delayRatio(load, few) })
    return [
      {
        id: 'pages',
        what: `time of GET /signals, 100 of ${events}`,
        value: medianRatio(measured.many, measured.few),
        target: '<= 1.3',
        baseline: `100 of ${FEW_EVENTS}`,
      },
      {
        id: 'pages delay',
        what: `the server's event-loop delay p99 while ${READERS} clients read pages`,
        value: median(delays.ratio),
        target: '<= 3',
        baseline: 'its idle loop in the same round',
      },
    ]
  } finally {
    await load.close()
    for (const server of servers) await server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** How much longer everything else waits for the server's loop while more clients read than it can serve. */
const delayRatio = async (load: Load, server: Served): Promise<number> => {
  const idle = await server.delayP99Ms(() => sleep(IDLE_MS))
  const busy = await server.delayP99Ms(() =>
    load.send({
      port: server.port,
      connections: READERS,
      requests: [PAGE],
      end: { after: 'milliseconds', count: READING_MS },
    }),
  )
  return busy.delayP99Ms / idle.delayP99Ms
}

const serveFilled = async (path: string, events: number): Promise<Served> => {
  const log = await openSqliteLog({ path })
  await appendAll(log, batchesOf(events))
  await log.close()
  return serve('events', path)
}

/** Made one by one: a million events at once would not leave room for anything else. */
function* batchesOf(events: number): Generator<ReturnType<typeof sampleEvents>> {
  for (let after = 0; after < events; after += BATCH)
    yield sampleEvents(after, Math.min(BATCH, events - after))
}
