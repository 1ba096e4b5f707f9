import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSeed, volume } from '../../../test/generated.fixture.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { TOOLS } from '../../core/views/capabilities.ts'
import {
  endpointsOf,
  faultFinder,
  readDocument,
  undocumented,
  type Endpoint,
  type FaultFinder,
  type Received,
  type Schema,
} from './openapi-document.fixture.ts'
import { requestsTo, type RequestWorld, type WireRequest } from './openapi-requests.fixture.ts'
import { ROUTES } from './routes/all.ts'
import { sha256Hex } from '../../engine/sha256.ts'
import { OPERATOR_TOKEN, startTestServer, TOKEN, type TestServer } from './test-server.fixture.ts'

/** Set SVC_FUZZ_REQUESTS=50000 for more requests. */
const ASKED_FOR = Number(process.env['SVC_FUZZ_REQUESTS'] ?? 0)
const REQUESTS = Math.max(volume({ normal: 800, full: 4000 }), ASKED_FOR)
/** Rounds of additional requests for endpoints that the random requests did not reach. */
const EXTRA_ROUNDS = 20
const PER_ROUND = 50

let server: TestServer
let endpoints: readonly Endpoint[]
let faultIn: FaultFinder
let world: RequestWorld

beforeAll(async () => {
  server = await startTestServer({
    asOperator: true,
    settings: { audit: { reads: true }, backtests: { max_queued: 1 } },
  })
  const document = await readDocument(server)
  endpoints = endpointsOf(document)
  faultIn = faultFinder(document)
  // Settings of access and rate limits stay as they are.
  const {
    api: _api,
    stream: _stream,
    ...sections
  } = document.components.schemas['Configuration']?.properties ?? {}
  const changes = { type: 'object', properties: sections }
  world = {
    lucky: await namesThatExist(),
    bodies: { changeConfiguration: changes, validateConfiguration: changes, postMcpMessage: RPC_MESSAGE },
    fixedSegments: new Set(ROUTES.flatMap(({ url }) => url.split('/'))),
  }
})
afterAll(() => server.close())

const RPC_MESSAGE: Schema = {
  type: 'object',
  required: ['jsonrpc', 'method', 'params'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['integer', 'string'] },
    method: { enum: ['tools/call', 'tools/list', 'initialize', 'ping', 'notifications/initialized', 'x'] },
    params: {
      type: 'object',
      required: ['name', 'arguments'],
      properties: {
        name: { enum: TOOLS.map(({ name }) => name) },
        arguments: {
          type: 'object',
          required: ['producer_id', 'signal_type', 'payload'],
          properties: {
            producer_id: { type: 'string' },
            signal_id: { type: 'string' },
            signal_type: { enum: ['signal.curator.v1', 'signal.ta.v1', 'signal.own.v1', 'brain.cycle.v1'] },
            payload: {
              type: 'object',
              properties: { symbol: { type: 'string' }, conviction: { type: 'number' } },
            },
            ts: { type: 'string', format: 'date-time' },
            dedupe_key: { type: 'string', maxLength: 200 },
            limit: { type: 'integer', minimum: 1, maximum: 100 },
            domain: { type: 'string' },
          },
        },
      },
    },
  },
}

const namesThatExist = async (): Promise<readonly string[]> => {
  const made = async (path: string, json: object): Promise<Record<string, unknown>> => {
    const { status, body } = await server.call('POST', path, { json })
    expect(status).toBeLessThan(300)
    return body
  }
  const ended = async (path: string, run: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const isOver = ({ status }: Record<string, unknown>): boolean =>
      status !== 'queued' && status !== 'running'
    const read = async () => (await server.call('GET', `/${path}/${String(run['id'])}`)).body
    // A busy machine may take long: only the limit of the hook ends the wait.
    let now = await read()
    for (; !isOver(now); now = await read()) await sleep(20)
    // The error is compared together with the status, so that a failed run shows its reason.
    expect({ status: now.status, error: now.error }).toEqual({ status: 'done', error: null })
    return run
  }
  const contributor = await made('/contributors/register', {
    node_id: 'n1',
    name: 'Ann',
    role: 'curator',
    metadata: { eas: { uid: '0x1', attestation: {} } },
  })
  await made('/producers/register', { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' })
  await made('/access-keys', { name: 'k1', scopes: ['read'] })
  const session = await made('/trace/sessions', {})
  const submission = { event_type: 'signal.curator.v1', node_id: 'n1' }
  const signal = await made('/signals/submit', submission)
  // Few random requests make few signals.
  for (let more = 0; more < volume({ normal: 5, full: 0 }); more += 1)
    await made('/signals/submit', submission)
  const cycle = await made('/brain/run', {})
  // A short range and one run at a time: background runs are not the subject of these tests.
  const range = { symbol: 'BTC', from: '2026-01-05', to: '2026-01-06' }
  const run = await ended('backtests', await made('/backtests', { ...range, strategy: 'hold' }))
  const sweep = await ended(
    'sweeps',
    await made('/sweeps', { ...range, strategy: 'momentum', set: ['bars=9'] }),
  )
  const ids = [
    contributor['id'],
    run['id'],
    sweep['id'],
    session['id'],
    signal['event_id'],
    cycle['cycle_id'],
  ].map(String)
  return ['n1', 'p1', 'k1', 'signal.curator.v1', 'signal', 'BTC', ...ids]
}

const send = async ({ method, path, headers, body }: WireRequest): Promise<Received> => {
  const response = await fetch(server.rootUrl + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  const isEndless = response.headers.get('content-type') === 'text/event-stream'
  if (isEndless) await response.body?.cancel()
  return { status: response.status, headers: response.headers, text: isEndless ? '' : await response.text() }
}

const INSIDE = /\bat [^\s"]+ \([^)]+:\d+:\d+\)|node_modules|\/src\/\w+|\.ts:\d+|file:\/\/|SQLITE_|ECONN/

/** True for operations that must not show paths. Only the response to a change of the configuration names its file. */
const isOutside = ({ operation }: Endpoint): boolean => operation.operationId !== 'changeConfiguration'

const complaintsAbout = (endpoint: Endpoint, received: Received): readonly string[] => {
  const { status, headers, text } = received
  return [
    status >= 500 ? `answers ${status}` : null,
    headers.get('x-request-id') === null ? 'has no request id' : null,
    INSIDE.test(text) ? 'shows its inside' : null,
    isOutside(endpoint) && text.includes(server.home) ? 'shows where it lives' : null,
    text.includes(TOKEN) || text.includes(OPERATOR_TOKEN) ? 'shows a token' : null,
    undocumented(endpoint, received, faultIn),
  ].filter((complaint) => complaint !== null)
}

// No position is opened here, so there is none to read or close, no intent to approve and nothing to settle. A sweep
// needs values that random requests do not contain.
const UNREACHABLE = new Set([
  'approveIntent',
  'cancelOrder',
  'closePosition',
  'denyIntent',
  'getPosition',
  'migrateWallet',
  'resumeLive',
  'settleKarma',
  'startSweep',
])

/** Creating operations come first and deleting ones last: an item can be reached only in between. */
const makersFirst = (one: Endpoint, other: Endpoint): number => turnOf(one) - turnOf(other)

const turnOf = ({ method }: Endpoint): number => (method === 'POST' ? 0 : method === 'DELETE' ? 2 : 1)

/** Operations with more parameters get more requests. */
const shareOf = ({ operation: { parameters = [], requestBody } }: Endpoint): number =>
  requestBody === undefined && parameters.every((parameter) => parameter.in === 'header') ? 1 : 6

/** A seed of its own for each operation, so that adding an endpoint does not change the requests of all others. */
const seedOf = (operationId: string): number =>
  (runSeed() + parseInt(sha256Hex(operationId).slice(0, 7), 16)) % 2 ** 31

/** Sends the request, checks the answer against the document, and returns its status. */
const answered = async (endpoint: Endpoint, request: WireRequest): Promise<number> => {
  const received = await send(request)
  const { operationId } = endpoint.operation
  expect(complaintsAbout(endpoint, received), `${operationId} ${received.text.slice(0, 300)}`).toEqual([])
  return received.status
}

/** A randomly submitted run may be long, and would use as much of the machine as all requests. */
const cancelRuns = async (): Promise<void> => {
  for (const path of ['/backtests', '/sweeps']) {
    const { items } = (await server.call('GET', path)).body as {
      readonly items: readonly { readonly id: string; readonly status: string }[]
    }
    for (const { id, status } of items) {
      if (status === 'queued' || status === 'running') await server.call('DELETE', `${path}/${id}`)
    }
  }
}

const mayBeReached = (operationId: string): boolean => !UNREACHABLE.has(operationId)

const isReached = (statuses: ReadonlySet<number>): boolean => [...statuses].some((status) => status < 300)

const sharesInAll = (): number => endpoints.reduce((sum, endpoint) => sum + shareOf(endpoint), 0)

describe('whatever is made of the document', () => {
  it('is answered as the document says', { timeout: 600_000 + REQUESTS * 150 }, async () => {
    const seen = new Map<string, Set<number>>()
    let sent = 0
    for (const endpoint of endpoints.toSorted(makersFirst)) {
      const { operationId } = endpoint.operation
      const statuses = new Set<number>()
      seen.set(operationId, statuses)
      const requests = requestsTo(endpoint, world)
      const ask = async (request: WireRequest): Promise<void> => {
        statuses.add(await answered(endpoint, request))
        sent += 1
      }
      const numRuns = Math.ceil((REQUESTS * shareOf(endpoint)) / sharesInAll())
      await fc.assert(fc.asyncProperty(requests, ask), { numRuns, seed: seedOf(operationId) })
      for (
        let round = 1;
        mayBeReached(operationId) && !isReached(statuses) && round <= EXTRA_ROUNDS;
        round += 1
      )
        for (const request of fc.sample(requests, { numRuns: PER_ROUND, seed: seedOf(operationId) + round }))
          if (!isReached(statuses)) await ask(request)
      await cancelRuns()
    }
    expect(sent).toBeGreaterThanOrEqual(REQUESTS)
    // Random requests reached every endpoint itself, and not only the checks before it.
    for (const [operationId, statuses] of seen) {
      if (mayBeReached(operationId))
        expect(isReached(statuses), `${operationId} ${[...statuses].join()}`).toBe(true)
    }
  })

  it('left a log that verifies, and signals only together with who is behind them', async () => {
    expect(await server.integrity.verify({ mode: 'full', n: 100 })).toMatchObject({ ok: true, reason: null })
    const records = await everything()
    const curated = records.filter(({ type }) => type === 'signal.curator.v1')
    expect(curated.length).toBeGreaterThan(5)
    for (const { id, seq } of curated) {
      const next = records[seq]
      expect(next).toMatchObject({ seq: seq + 1, type: 'attribution.recorded.v1' })
      expect(JSON.parse(next?.payload ?? '')).toMatchObject({ signal_id: id })
    }
    const attributed = records.filter(({ type }) => type === 'attribution.recorded.v1')
    expect(attributed.every(({ seq }) => records[seq - 2]?.type.startsWith('signal.'))).toBe(true)
  })

  it('left nothing in the log of the process that it would call an error', () => {
    expect(server.logLines.filter((line) => /"level":"?(error|50)/i.test(line))).toEqual([])
  })
})

const everything = async (): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = []
  for (;;) {
    const page = await server.engine.log.read({ after: records.length, order: 'asc', limit: 500 })
    records.push(...page)
    if (page.length < 500) return records
  }
}
