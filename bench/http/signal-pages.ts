import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { interleave, medianRatio, type BenchRow } from '../harness.ts'
import { sampleEvents } from '../store/sample-events.ts'
import { appendAll } from '../store/sqlite-fill.ts'
import { getRequest, startLoad } from './load.ts'
import { serve, type Served } from './served.ts'

const FEW_EVENTS = 10_000
const BATCH = 1000
const PAGES_PER_ROUND = 500
const WARM_UP_PAGES = 2000

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
      const requests = [getRequest('/signals?limit=100')]
      const { p50Ms } = await load.send({ port, connections: 1, requests, end: { after: 'requests', count } })
      return p50Ms
    }
    for (const server of servers) await pageMs(server, WARM_UP_PAGES)
    const measured = await interleave(rounds, {
      few: () => pageMs(few, PAGES_PER_ROUND),
      many: () => pageMs(many, PAGES_PER_ROUND),
    })
    return [
      {
        id: 'pages',
        what: `time of GET /signals, 100 of ${events}`,
        value: medianRatio(measured.many, measured.few),
        target: '<= 1.3',
        baseline: `100 of ${FEW_EVENTS}`,
      },
    ]
  } finally {
    await load.close()
    for (const server of servers) await server.close()
    await rm(folder, { recursive: true, force: true })
  }
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
