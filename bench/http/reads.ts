import { TOKEN } from '../../src/surfaces/http/test-server.fixture.ts'
import { cleanUp, newHome, startService } from '../../test/interface/service.ts'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'
import { getRequest, postRequest, startLoad, type Load, type Loaded } from './load.ts'
import type { LoadEnd } from './load-thread.ts'

const CONNECTIONS = 64
const CONTRIBUTORS = 10_000
const BOARDS_PER_ROUND = 50
const WARM_UP_BOARDS = 300
const ROUND_MS = 1000
const WARM_UP_MS = 3000

const REST_STATUS = getRequest('/brain/status')
const MCP_STATUS = postRequest('/mcp', {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'get_brain_status', arguments: {} },
})

/** The most frequent requests, to the built service. */
export const benchReads = async (rounds: number): Promise<readonly BenchRow[]> => {
  const load = startLoad()
  try {
    const variables = { SVC_API__AUTH_TOKEN: TOKEN, SVC_DEV_MODE: '1' }
    const service = await startService(await newHome(), variables)
    const port = Number(new URL(service.baseUrl).port)
    const rows = [await benchMcp(load, port, rounds), await benchLeaderboard(load, port, rounds)]
    await service.stop()
    return rows
  } finally {
    await load.close()
    await cleanUp()
  }
}

/** Compares one answer over MCP with the answer over REST. */
const benchMcp = async (load: Load, port: number, rounds: number): Promise<BenchRow> => {
  const rate = async (request: string, durationMs = ROUND_MS): Promise<number> =>
    (await ask(load, port, [request], { after: 'milliseconds', count: durationMs })).perSecond
  await rate(MCP_STATUS, WARM_UP_MS)
  await rate(REST_STATUS, WARM_UP_MS)
  const { mcp, rest } = await interleave(rounds, {
    mcp: () => rate(MCP_STATUS),
    rest: () => rate(REST_STATUS),
  })
  return {
    id: 'mcp',
    what: `calls of get_brain_status/s over MCP, ${CONNECTIONS} connections`,
    value: medianRatio(mcp, rest),
    target: '>= 0.3',
    baseline: 'GET /brain/status',
  }
}

/** All contributors have submitted a signal, so that each has a rank. */
const benchLeaderboard = async (load: Load, port: number, rounds: number): Promise<BenchRow> => {
  const names = Array.from({ length: CONTRIBUTORS }, (_, index) => `n${index}`)
  const registrations = names.map((node_id) =>
    postRequest('/contributors/register', { node_id, name: node_id, role: 'curator', metadata: {} }),
  )
  const submissions = names.map((node_id) =>
    postRequest('/signals/submit', {
      event_type: 'signal.curator.v1',
      node_id,
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 5 },
    }),
  )
  for (const requests of [registrations, submissions])
    await ask(load, port, requests, { after: 'requests', count: CONTRIBUTORS })
  const leaderboardMs = async (count = BOARDS_PER_ROUND): Promise<number> => {
    const requests = [getRequest('/contributors/leaderboard')]
    const end = { after: 'requests', count } as const
    return (await load.send({ port, connections: 1, requests, end })).p50Ms
  }
  await leaderboardMs(WARM_UP_BOARDS)
  const { leaderboard } = await interleave(rounds, { leaderboard: () => leaderboardMs() })
  return {
    id: 'leaderboard',
    what: `ms of GET /contributors/leaderboard, ${CONTRIBUTORS} contributors`,
    value: median(leaderboard),
    target: '< 20',
    baseline: 'none',
  }
}

const ask = (load: Load, port: number, requests: readonly string[], end: LoadEnd): Promise<Loaded> =>
  load.send({ port, connections: CONNECTIONS, requests, end })
