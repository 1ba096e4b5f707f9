import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { testClock, testSigner } from '../../../test/signer.fixture.ts'
import { openConfigurationStore } from '../../adapters/platform/config-file/configuration-store.ts'
import { createLogger } from '../../adapters/platform/logger/logger.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { memoryCheckpoints } from '../../adapters/storage/memory/memory-checkpoints.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { EnvironmentVariables } from '../../core/config/environment.ts'
import type { EngineLimits } from '../../engine/command-queue.ts'
import { Engine } from '../../engine/engine.ts'
import { CHECKPOINT_PACE, createCheckpointer } from '../../engine/integrity/checkpointer.ts'
import { recentCheck } from '../../engine/integrity/recent-check.ts'
import { verifyLog } from '../../engine/integrity/verify.ts'
import { proveEvent, proveGrowth } from '../../engine/proofs/prove.ts'
import { openBacktests } from '../../compose/backtests.ts'
import { environmentOf } from '../../compose/environment.ts'
import type { ConfigurationStore } from '../../ports/config-file.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { createMcpEndpoint } from '../mcp/endpoint.ts'
import type { HttpDependencies, IntegrityCheck } from './dependencies.ts'
import { createHttpServer, type HttpServerOptions } from './server.ts'

export const TOKEN = 'a-token-of-more-than-thirty-two-characters'
export const OPERATOR_TOKEN = 'another-token-of-more-than-thirty-two-chars'
export const VERSION = '1.2.3'

export interface TestServerOptions extends HttpServerOptions {
  /** Over the token, in `config/user.yaml`. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly env?: EnvironmentVariables
  readonly log?: EventLog
  readonly engineLimits?: Partial<EngineLimits>
  readonly insecureOk?: boolean
  /** Sets the operator token, and sends it with every call by default. */
  readonly asOperator?: true
  readonly dependencies?: Partial<HttpDependencies>
}

/** A real server on a real port, over a log in memory. */
export const startTestServer = async (options: TestServerOptions = {}) => {
  const home = await mkdtemp(join(tmpdir(), 'svc-http-'))
  await mkdir(join(home, 'config'))
  const ownTokens = options.asOperator ? { operator_token: OPERATOR_TOKEN } : {}
  const api = { auth_token: TOKEN, ...ownTokens, ...options.settings?.['api'] }
  const settings = { ...options.settings, api }
  const token = options.asOperator ? OPERATOR_TOKEN : TOKEN
  await writeFile(join(home, 'config', 'user.yaml'), JSON.stringify(settings), { mode: 0o600 })
  const opened = await openConfigurationStore({ home, env: options.env ?? {} })
  if (opened.status === 'invalid') throw new Error(opened.problems.join('; '))
  const configuration: ConfigurationStore = opened.store
  const clock = testClock()
  const signer = testSigner()
  const log = options.log ?? new MemoryLog()
  const logLines: string[] = []
  const logger = createLogger({
    level: 'DEBUG',
    jsonOutput: true,
    secrets: [TOKEN, OPERATOR_TOKEN],
    clock,
    write: (line) => logLines.push(line),
  })
  const engine = await Engine.open({
    log,
    signer,
    isSigned: (item) => signatures.isSigned(item),
    clock,
    snapshotEveryEvents: 10_000,
    configuration: () => configuration.current(),
    version: VERSION,
    ...(options.engineLimits === undefined ? {} : { limits: options.engineLimits }),
    onError: (what, error) => logger.error(what, { error }),
  })
  const started = {
    version: VERSION,
    node_id: signer.nodeId,
    public_key: signer.publicKey,
    ephemeral: false,
    integrity: { ok: true, reason: null, first_bad_seq: null },
  }
  await engine.execute({ kind: 'start', started })
  const trust = { signatures, own: signer, firstHash: null }
  const integrity: IntegrityCheck = {
    verify: (request) => verifyLog(log, { ...request, checkpoints: null, trust, clock }),
  }
  const checkpoints = memoryCheckpoints()
  const checkpointer = createCheckpointer({
    log,
    checkpoints,
    signer,
    signatures,
    clock,
    ...CHECKPOINT_PACE,
  })
  const signCheckpoint = (): ReturnType<typeof checkpointer.step> => checkpointer.step('now')
  const backtests = await openBacktests({
    environment: { ...environmentOf(home, {}, VERSION), clock },
    configuration: () => configuration.current(),
    logger,
    inMemory: false,
  })
  const dependencies: HttpDependencies = {
    engine,
    configuration,
    backtests,
    integrity,
    prove: (record) => proveEvent({ log, checkpoints, signatures, trust, signer, signCheckpoint }, record),
    proveGrowth: (from, to) => proveGrowth({ log, checkpoints }, from, to),
    mcp: createMcpEndpoint({
      engine,
      backtests,
      configuration: () => configuration.current(),
      recentChainOk: recentCheck((request) => integrity.verify(request), clock),
      logger,
      clock,
      version: VERSION,
    }),
    logger,
    clock,
    version: VERSION,
    startedAtMs: clock.now(),
    insecureOk: options.insecureOk ?? false,
    chainOk: true,
    feedStatus: () => null,
    leads: () => false,
    mayLead: false,
    isStarting: () => false,
    ...options.dependencies,
  }
  const server = await createHttpServer(dependencies, { checkResponses: true, ...options })
  const { port, baseUrl } = await server.listen({ host: '127.0.0.1', port: 0 })
  const rootUrl = `http://127.0.0.1:${port}`
  return {
    ...dependencies,
    log,
    checkpoints,
    publicKey: signer.publicKey,
    home,
    server,
    port,
    baseUrl,
    rootUrl,
    logLines,
    testClock: clock,
    /** Below `/api/v1`, with the token unless other headers say otherwise. */
    call: (method: string, path: string, given: CallOptions = {}) =>
      call(baseUrl + path, method, { token, ...given }),
    callRoot: (method: string, path: string, given: CallOptions = {}) =>
      call(rootUrl + path, method, { token, ...given }),
    raw: (request: string) => rawExchange(port, request),
    auditEntries: async () =>
      (await log.read({ types: ['system.audit'], order: 'asc', limit: 1000 })).map(
        ({ payload, source, traceId }) => ({
          ...(JSON.parse(payload) as AuditPayload),
          source,
          traceId,
        }),
      ),
    close: async () => {
      await server.close()
      await backtests.close()
      await engine.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

export type TestServer = Awaited<ReturnType<typeof startTestServer>>

interface AuditPayload {
  readonly resource: string
  readonly action: string
  readonly outcome: string
  readonly reason: string | null
  readonly request_id: string
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is, as JSON unless the headers say otherwise. */
  readonly body?: string | Uint8Array
  /** Null sends none. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

const call = async (url: string, method: string, options: CallOptions): Promise<Called> => {
  const { json, body, token = TOKEN, headers = {} } = options
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined && body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(body === undefined ? {} : { body }),
  })
  const received = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true && received !== ''
  return {
    status: response.status,
    headers: response.headers,
    text: received,
    body: isJson ? (JSON.parse(received) as Record<string, unknown>) : {},
  }
}

/** Bytes to a socket, and everything that comes back until the other side ends. */
const rawExchange = async (port: number, request: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1')
  socket.write(request)
  return text(socket)
}
