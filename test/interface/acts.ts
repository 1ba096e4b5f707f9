import type { Answer, RunningService, Variables } from './service.ts'

/** Frequent actions of clients. Each one fails the test if it is not accepted. */

export interface EventItem {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly ts: string
  readonly source: string | null
  readonly trace_id: string | null
  readonly payload: Readonly<Record<string, unknown>>
}

/** Registers a contributor and returns its id. */
export const register = async (
  service: RunningService,
  nodeId: string,
  metadata: object = {},
): Promise<string> => {
  const body = { node_id: nodeId, name: `Name of ${nodeId}`, role: 'curator', metadata }
  const contributor: { id: string } = accepted(await service.call('POST', '/contributors/register', { body }))
  return contributor.id
}

export const registerProducer = async (
  service: RunningService,
  name: string,
  domain: string,
): Promise<void> => {
  const body = { name, domain, endpoint: 'https://example.com/x' }
  accepted(await service.call('POST', '/producers/register', { body }))
}

/** Submits an opinion of a registered contributor. Returns the signal's id. */
export const submit = async (
  service: RunningService,
  nodeId: string,
  payload: object = {},
  headers: Variables = {},
): Promise<string> => {
  const body = { event_type: 'signal.curator.v1', node_id: nodeId, payload }
  const stored: { event_id: string } = accepted(
    await service.call('POST', '/signals/submit', { body, headers }),
  )
  return stored.event_id
}

/** Emits a signal of a producer, as agents do. Returns the signal's id. */
export const emit = async (
  service: RunningService,
  producerId: string,
  signalType: string,
  payload: object,
): Promise<string> => {
  const params = {
    name: 'emit_producer_signal',
    arguments: { producer_id: producerId, signal_type: signalType, payload },
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const called: { result?: { isError: boolean; structuredContent: { event_id: string } } } = accepted(
    await service.call('POST', '/mcp', { body }),
  )
  if (called.result?.isError !== false) throw new Error(`not stored: ${JSON.stringify(called)}`)
  return called.result.structuredContent.event_id
}

/** Calls an MCP tool. */
export const tool = async (service: RunningService, name: string, args: object): Promise<Answer> =>
  service.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  })

/** The error of a tool, or the JSON-RPC error code. Undefined for a result. */
export const errorOf = ({ body }: Answer): unknown => {
  const { result, error } = body as {
    result?: { structuredContent: { error?: string } }
    error?: { code: number }
  }
  return result?.structuredContent.error ?? error?.code
}

/** The newest events whose type has this prefix, newest first. */
export const eventsOf = async (service: RunningService, type: string): Promise<readonly EventItem[]> => {
  const page: { items: readonly EventItem[] } = accepted(
    await service.call('GET', `/events?type=${type}&limit=500`),
  )
  return page.items
}

const accepted = ({ status, body, text }: Answer): never => {
  if (status !== 200) throw new Error(`answered with ${status}: ${text}`)
  return body
}
