import { connect } from 'node:net'
import { loadavg } from 'node:os'
import { text as textOf } from 'node:stream/consumers'
import fc, { type Arbitrary } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSeed, volume } from '../generated.fixture.ts'
import { MANY_VALUES } from '../cpu-cost.fixture.ts'
import {
  endpointsOf,
  type Endpoint,
  type OpenApiDocument,
  type Schema,
} from '../../src/surfaces/http/openapi-document.fixture.ts'
import {
  requestsTo,
  type RequestWorld,
  type WireRequest,
} from '../../src/surfaces/http/openapi-requests.fixture.ts'
import { valueFor } from '../../src/surfaces/http/schema-values.fixture.ts'
import { OPERATOR_TOKEN, TOKEN } from '../../src/surfaces/http/test-server.fixture.ts'
import { cleanUp, newHome, startService, svc, type RunningService } from '../interface/service.ts'

/** `npm run fuzz -- --count 100000 --seed 7`; a smaller run is part of the tests. */
const COUNT = Number(process.env['SVC_FUZZ_COUNT'] ?? volume({ normal: 300, full: 1500 }))
const SEED = Number(process.env['SVC_FUZZ_SEED'] ?? runSeed())
/** Time limit on an idle machine. Tests share theirs, so their limit is longer. */
const ANSWER_MS_MAX = process.env['SVC_FUZZ_COUNT'] === undefined ? 20_000 : 2000

const AT_ONCE = 8
const PER_ROUND = volume({ normal: 2, full: 4 })

let service: RunningService
let root: string
let sources: readonly Source[]

/** Requests to one endpoint or tool. */
interface Source {
  readonly name: string
  readonly requests: Arbitrary<WireRequest>
  readonly perRound: number
}

beforeAll(async () => {
  service = await startService(await newHome(), {
    SVC_API__AUTH_TOKEN: TOKEN,
    SVC_API__OPERATOR_TOKEN: OPERATOR_TOKEN,
    SVC_API__RATE_LIMIT_PER_MINUTE: '0',
    SVC_DEV_MODE: '1',
  })
  root = new URL('/', service.baseUrl).href.slice(0, -1)
  sources = await sourcesOf()
})
afterAll(cleanUp)

const HEADERS = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' }

const call = async (method: string, path: string, json?: object): Promise<Record<string, unknown>> => {
  const body = json === undefined ? {} : { body: JSON.stringify(json) }
  const response = await fetch(root + path, { method, headers: HEADERS, ...body })
  expect(response.status, path).toBeLessThan(300)
  return (await response.json()) as Record<string, unknown>
}

const sourcesOf = async (): Promise<readonly Source[]> => {
  const document = (await call('GET', '/openapi.json')) as unknown as OpenApiDocument
  const lucky = await namesThatExist()
  const endpoints = endpointsOf(document)
  // Settings that decide about access, connections and the target of orders stay as they are.
  const fixed = new Set(['api', 'stream', 'store', 'dashboard', 'market', 'execution', 'producers'])
  const sections = Object.entries(document.components.schemas['Configuration']?.properties ?? {})
  const changes = {
    type: 'object',
    properties: Object.fromEntries(sections.filter(([name]) => !fixed.has(name))),
  }
  const world: RequestWorld = {
    lucky,
    bodies: { changeConfiguration: changes, validateConfiguration: changes },
    fixedSegments: new Set(endpoints.flatMap(({ path }) => path.split('/'))),
  }
  return [
    ...endpoints.toSorted(destroyersLast).map((endpoint) => ({
      name: `${endpoint.method} ${endpoint.path}`,
      requests: requestsTo(endpoint, world),
      perRound: PER_ROUND,
    })),
    ...(await toolSources(lucky)),
    { name: 'many values', requests: fc.constantFrom(...manyValues()), perRound: 1 },
  ]
}

/** Deleting endpoints come last, because a removed item cannot be reached by later requests. */
const destroyersLast = (one: Endpoint, other: Endpoint): number =>
  Number(one.method === 'DELETE') - Number(other.method === 'DELETE')

const namesThatExist = async (): Promise<readonly string[]> => {
  const api = '/api/v1'
  const contributor = await call('POST', `${api}/contributors/register`, {
    node_id: 'n1',
    name: 'Ann',
    role: 'curator',
  })
  const endpoint = 'https://fuzz.invalid/x'
  await call('POST', `${api}/producers/register`, { name: 'p1', domain: 'onchain', endpoint })
  const session = await call('POST', `${api}/trace/sessions`, {})
  const submission = { event_type: 'signal.curator.v1', node_id: 'n1' }
  const signal = await call('POST', `${api}/signals/submit`, submission)
  const cycle = await call('POST', `${api}/brain/run`, {})
  const ids = [contributor['id'], session['id'], signal['event_id'], cycle['cycle_id']].map(String)
  return ['n1', 'p1', 'signal.curator.v1', 'signal', 'BTC', ...ids]
}

interface ListedTool {
  readonly name: string
  readonly inputSchema: Schema
}

/** Every tool, with arguments generated from its own schema. */
const toolSources = async (lucky: readonly string[]): Promise<readonly Source[]> => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const { result } = (await call('POST', '/api/v1/mcp', message)) as {
    result: { tools: readonly ListedTool[] }
  }
  expect(result.tools.length).toBeGreaterThan(15)
  return result.tools.map(({ name, inputSchema }) => ({
    name: `tool ${name}`,
    perRound: PER_ROUND,
    requests: valueFor(inputSchema, lucky).map((given) =>
      post(
        '/api/v1/mcp',
        JSON.stringify({ ...message, method: 'tools/call', params: { name, arguments: given } }),
      ),
    ),
  }))
}

const post = (path: string, body: string): WireRequest => ({ method: 'POST', path, headers: HEADERS, body })

const manyValues = (): readonly WireRequest[] =>
  Object.values(MANY_VALUES).flatMap((values) => [
    post('/api/v1/mcp', values),
    post('/api/v1/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${values}}`),
    post('/api/v1/signals/submit', `{"event_type":"signal.curator.v1","payload":${values}}`),
    post('/api/v1/config', `{"weights":${values}}`),
  ])

/** Replaces addresses by ones that do not exist, so that no outside host is called. */
const harmless = (body: string | undefined): string | undefined =>
  body?.replaceAll(/(https?|wss?):\/\/[^"/?#\\]+/g, 'https://fuzz.invalid')

interface Answered {
  readonly source: string
  readonly request: WireRequest
  readonly status: number
  readonly ms: number
  readonly text: string
}

const send = async (source: string, request: WireRequest): Promise<Answered> => {
  const { method, path, headers } = request
  const body = harmless(request.body)
  const startedMs = performance.now()
  const response = await fetch(root + path, { method, headers, ...(body === undefined ? {} : { body }) })
  const isEndless = response.headers.get('content-type') === 'text/event-stream'
  const text = isEndless ? '' : await response.text()
  const ms = performance.now() - startedMs
  if (isEndless) await response.body?.cancel()
  return { source, request, status: response.status, ms, text }
}

/** Sends bytes that are no valid request. */
const sendBytes = async (bytes: string): Promise<string> => {
  const socket = connect(Number(new URL(root).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.end(Buffer.from(`${bytes}\r\n\r\n\r\n`, 'latin1'))
  return textOf(socket).catch(() => '')
}

const BYTES = fc
  .tuple(
    fc.constantFrom(
      '',
      'GET ',
      'GET /api/v1/',
      'POST /api/v1/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n',
    ),
    fc.uint8Array({ maxLength: 60 }),
  )
  .map(([start, bytes]) => start + Buffer.from(bytes).toString('latin1'))

/** False for documented refusals of a busy service. Any other status from 500 on is a bug. */
const isBug = ({ status, text }: Answered): boolean =>
  status >= 500 && !(status === 503 && /"code":"(store\.busy|stream\.too_many_clients)"/.test(text))

/** Time for which a caller asks to wait for the end of a backtest. */
const askedToWaitMs = ({ body }: WireRequest): number =>
  1000 * Number(/"wait_seconds":(\d{1,2})\b/.exec(body ?? '')?.[1] ?? 0)

describe('a service under generated requests', () => {
  it(
    `answers ${COUNT} of them, all routes and tools, without a bug and in time (seed ${SEED})`,
    { timeout: 120_000 + COUNT * 60 },
    async () => {
      let sent = 0
      const statuses = new Map<number, number>()
      const bugs: string[] = []
      const slow: string[] = []
      let slowestMs = 0
      const note = (answer: Answered): void => {
        sent += 1
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        slowestMs = Math.max(slowestMs, answer.ms)
        const { request, source, status, ms, text } = answer
        const what = `${source}: ${status} in ${Math.round(ms)} ms: ${request.path.slice(0, 200)} ${request.body?.slice(0, 300)}`
        if (isBug(answer)) bugs.push(`${what} → ${text.slice(0, 200)}`)
        if (ms > ANSWER_MS_MAX + askedToWaitMs(request)) slow.push(what)
      }
      for (let round = 0; sent < COUNT; round += 1) {
        const seed = SEED + round * 1009
        const queue = sources.flatMap(({ name, requests, perRound }, index) =>
          fc
            .sample(requests, { numRuns: perRound, seed: seed + index })
            .map((request) => ({ name, request })),
        )
        const worker = async (): Promise<void> => {
          for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
            note(await send(next.name, next.request))
          }
        }
        await Promise.all(Array.from({ length: AT_ONCE }, worker))
        for (const bytes of fc.sample(BYTES, { numRuns: 4, seed })) {
          const answer = await sendBytes(bytes)
          expect(answer).not.toMatch(/^HTTP\/1\.1 5/)
        }
        expect(bugs.slice(0, 3)).toEqual([])
      }
      const counts = [...statuses]
        .toSorted(([one], [other]) => one - other)
        .map(([status, count]) => `${status}: ${count}`)
      process.stdout.write(
        `${sent} requests, seed ${SEED}, slowest ${Math.round(slowestMs)} ms, ${slow.length} over ${ANSWER_MS_MAX} ms, ` +
          `load ${loadavg()[0]?.toFixed(1)}; ${counts.join(', ')}\n`,
      )
      expect(slow.slice(0, 3)).toEqual([])
      // Most requests were authorized: a run that is refused at the token tests nothing behind it.
      expect((statuses.get(401) ?? 0) / sent).toBeLessThan(0.1)
      expect(sent).toBeGreaterThanOrEqual(COUNT)
    },
  )

  it('leaves a log that verifies', { timeout: 600_000 }, async () => {
    expect(service.output()).not.toContain('request failed')
    expect(await service.stop()).toBe(0)
    const { exitCode, stdout } = await svc(service.home, ['integrity', '--json'], { SVC_DEV_MODE: '1' })
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { ok: true, mode: 'full' }])
  })
})
