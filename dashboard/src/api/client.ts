/** What the service says when it says no. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  /** Stable, such as `kill_switch.active`; `unknown` where the body has none. */
  readonly code: string
  readonly faults: readonly Fault[]
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body['detail'] === 'string' ? body['detail'] : `The service answered ${status}`)
    this.status = status
    this.code = typeof body['code'] === 'string' ? body['code'] : 'unknown'
    this.faults = Array.isArray(body['errors']) ? (body['errors'] as Fault[]) : []
    this.body = body
  }
}

export interface Fault {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
}

/** Nobody answered: the network, or the service is down. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export const API = '/api/v1'

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Sent with this one request and forgotten. */
  readonly operatorToken?: string
}

/** One request to the API, through the dashboard's own origin. `path` stands below the prefix. */
export const callApi = async <Body>(path: string, call: Call = {}): Promise<Body> => {
  const { method = 'GET', body, headers = {}, signal, operatorToken } = call
  const response = await send(`${API}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(operatorToken === undefined ? {} : { 'x-operator-token': encodeURIComponent(operatorToken) }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  const answer = await readJson(response)
  if (!response.ok) throw new ApiProblem(response.status, isRecord(answer) ? answer : {})
  return answer as Body
}

/** A query without the parameters that are not set. */
export const queryOf = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

const send = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Unreachable('The service does not answer')
  }
}

const readJson = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    // A proxy in between may answer in HTML; the status says enough.
    return null
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
