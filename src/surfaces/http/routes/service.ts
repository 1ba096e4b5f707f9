import { z } from 'zod'
import { steadyNowOf } from '../dependencies.ts'
import { tradeReadiness } from '../readiness.ts'
import { ok, okJsonText, okText, refused } from '../results.ts'
import { NONCE_BYTES, SERVICE_PROOF_PATH, serviceProofText } from '../../service-proof.ts'
import { STARTED_HEADER } from '../../started-header.ts'
import { route, routes, type Service } from '../route.ts'
import { withinTime } from '../time-limit.ts'

const nonceText = () =>
  z
    .string()
    .max(NONCE_BYTES * 2, { abort: true })
    .regex(new RegExp(`^[0-9a-f]{${NONCE_BYTES * 2}}$`))
    .meta({ description: `${NONCE_BYTES} random bytes as hex digits`, examples: ['9c'.repeat(NONCE_BYTES)] })

export const serviceRoutes = routes('Service', {
  getHealth: route('GET', '/health', 'public', {
    isUrgent: true,
    summary: 'Whether the service runs',
    response: z.object({
      version: z.string(),
      uptime_seconds: z.number().min(0),
      db_size_bytes: z.int().min(0),
    }),
    example: { version: '1.0.0', uptime_seconds: 12.4, db_size_bytes: 262_144 },
    handler: async (_input, service) => {
      // A service that can store nothing is not well, however quickly it answers.
      if (service.engine.lost !== null) throw service.engine.lost
      const body = {
        version: service.version,
        uptime_seconds: Math.max(0, steadyNowOf(service) - service.startedAtMs) / 1000,
        db_size_bytes: await sizeOf(service),
      }
      return ok(body, { headers: { [STARTED_HEADER]: String(service.startedAtMs) } })
    },
  }),
  getServiceProof: route('GET', SERVICE_PROOF_PATH, 'public', {
    summary: 'Proof that this service has the key of its node, for the commands of its home',
    description:
      'Before `svc mcp` sends a token it asks for this on the same connection and checks the signature with the public ' +
      'key in `identity/identity.json`. Signed is the text `signal-engine service proof v1`, a line feed, `address`, a ' +
      'line feed, the nonce and a line feed. `address` is where this connection arrived: whoever asks compares it with ' +
      'the address it connected to, so that nobody in between can pass the proof on as its own.',
    query: z.object({ nonce: nonceText() }),
    response: z.object({
      node_id: z.string(),
      address: z.string(),
      signature: z.string().meta({ description: 'Ed25519, 128 hex digits' }),
    }),
    example: { node_id: 'svc-8a88e3dd7409f195', address: '127.0.0.1:5050', signature: '4f'.repeat(64) },
    handler: ({ query: { nonce }, ownAddress: address }, { engine }) =>
      ok({
        node_id: engine.nodeId,
        address,
        signature: engine.sign(serviceProofText(nonce, address)),
      }),
  }),
  getLiveness: route('GET', '/live', 'public', {
    atRoot: true,
    isUrgent: true,
    reducesRisk: true,
    summary: 'Whether the process answers at all',
    description: 'For whoever restarts processes that hang.',
    response: z.object({ live: z.literal(true) }),
    example: { live: true },
    handler: () => ok({ live: true }),
  }),
  getReadiness: route('GET', '/ready', 'public', {
    atRoot: true,
    isUrgent: true,
    reducesRisk: true,
    summary: 'Whether requests should be sent here',
    description:
      'For load balancers. 503 with `reasons` while the service starts (`starting`), stops (`draining`) or cannot reach ' +
      'its store (`store_unavailable`). `leading`: whether this process drives feeds, schedule and venues.',
    response: z.object({ ready: z.literal(true), leading: z.boolean() }),
    example: { ready: true, leading: true },
    problems: ['server.not_ready'],
    handler: async (_input, { readiness, leads }) => {
      const reasons = await readiness.reasons()
      if (reasons.length === 0) return ok({ ready: true, leading: leads() })
      return refused('server.not_ready', 'Send requests to another process', {
        extras: { reasons: [...reasons] },
      })
    },
  }),
  getTradeReadiness: route('GET', '/ready', 'public', {
    isUrgent: true,
    reducesRisk: true,
    summary: 'Whether trades can be decided here',
    description:
      'For scripts and monitors. 503 with `reasons`: those of `/ready` at the root, `not_leading` while another process ' +
      'leads, and `no_price` while a feed runs and a symbol of `universe.symbols` has no recent price; `detail` names the ' +
      'symbols. Load balancers use `/ready` at the root.',
    response: z.object({ ready: z.literal(true) }),
    example: { ready: true },
    problems: ['server.not_ready'],
    handler: async (_input, service) => {
      const { reasons, detail } = await tradeReadiness(service, service.readiness)
      if (reasons.length === 0) return ok({ ready: true })
      return refused('server.not_ready', `Not ready: ${detail}`, { extras: { reasons: [...reasons] } })
    },
  }),
  getMetrics: route('GET', '/metrics', 'read', {
    atRoot: true,
    publicWhile: ({ metrics }) => metrics.public,
    summary: 'Metrics for Prometheus',
    description: 'Public while `metrics.public` is set.',
    response: z.string(),
    responseType: 'text/plain',
    example: '# TYPE svc_kill_switch_level gauge\nsvc_kill_switch_level 0\n',
    handler: async (_input, { metrics }) => okText(await metrics.text(), metrics.contentType),
  }),
  getOpenApi: route('GET', '/openapi.json', 'public', {
    atRoot: true,
    summary: 'This documentation as OpenAPI 3.1',
    response: z.looseObject({ openapi: z.string() }),
    example: { openapi: '3.1.0', info: { title: 'Signal Engine API', version: '1.0.0' }, paths: {} },
    handler: async (_input, { openApiText }) => okJsonText(await openApiText()),
  }),
})

/** All that a process without an API answers: whether it runs, and how. */
export const probeRoutes = serviceRoutes.filter(
  ({ operationId }) => operationId !== 'getOpenApi' && operationId !== 'getServiceProof',
)

/** A slow store must not make the service look dead. */
const SIZE_TIMEOUT_MS = 1000

/** 0 if unknown. */
const sizeOf = async ({ engine, logger }: Service): Promise<number> => {
  try {
    const size = await withinTime(engine.log.sizeBytes(), SIZE_TIMEOUT_MS, (error) =>
      logger.warn('could not read the size of the store', { error }),
    )
    return size.status === 'done' ? size.value : 0
  } catch (error) {
    // The service itself runs, whatever is wrong with the store.
    logger.warn('could not read the size of the store', { error })
    return 0
  }
}
