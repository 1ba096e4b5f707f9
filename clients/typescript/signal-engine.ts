import { createPrivateKey, createPublicKey, randomBytes, randomUUID, sign } from 'node:crypto'

/** A client of the REST API without dependencies. docs/signing.md describes what it signs. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json }
export type JsonObject = { readonly [member: string]: Json }

export interface Contributor {
  readonly id: string
  readonly node_id: string
  readonly name: string
  readonly role: string
  readonly registered_at: string
  readonly metadata: JsonObject
  readonly public_key?: string
}

export interface Registration {
  readonly nodeId: string
  readonly name: string
  readonly role: string
  readonly metadata?: JsonObject
  /** Then every submission must be signed with it. */
  readonly publicKey?: string
}

export interface Submission {
  readonly nodeId: string
  readonly payload: JsonObject
  readonly source?: string
  /** Now, if absent. */
  readonly ts?: Date
  /** Stores the signal once, however often it is sent. A signed submission without one gets a random key. */
  readonly dedupeKey?: string
}

export interface Stored {
  readonly event_id: string
  readonly contributor_id: string
}

/** An Ed25519 key of a contributor. Keep the seed secret: whoever has it speaks for the contributor. */
export interface SigningKey {
  /** 64 hex digits, to register with. */
  readonly publicKey: string
  /** 32 bytes, to store. */
  readonly seed: Uint8Array
  /** 128 hex digits over the UTF-8 bytes of a text. */
  sign(text: string): string
}

/** The service refused; `code` is one of docs/http.md. */
export class SignalEngineError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, detail: string) {
    super(`${code}: ${detail}`)
    this.status = status
    this.code = code
  }
}

export class SignalEngine {
  readonly #baseUrl: string
  readonly #token: string
  readonly #contributorIds = new Map<string, string>()

  /** `baseUrl` ends in `/api/v1`. */
  constructor({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }) {
    this.#baseUrl = baseUrl.replace(/\/$/, '')
    this.#token = token
  }

  async register({ nodeId, name, role, metadata = {}, publicKey }: Registration): Promise<Contributor> {
    const key = publicKey === undefined ? {} : { public_key: publicKey }
    const body = { node_id: nodeId, name, role, metadata, ...key }
    const contributor = (await this.#call('POST', '/contributors/register', body)) as Contributor
    this.#contributorIds.set(nodeId, contributor.id)
    return contributor
  }

  async contributors(): Promise<readonly Contributor[]> {
    return (await this.#call('GET', '/contributors')) as readonly Contributor[]
  }

  /** Submits a curator signal, signed if the contributor has a key. Safe to repeat with the same `ts` and key. */
  async submit(
    { nodeId, payload, source: given = '', ts = new Date(), dedupeKey }: Submission,
    { signWith }: { readonly signWith?: SigningKey } = {},
  ): Promise<Stored> {
    // The signature covers the source as it is stored.
    const source = given.trim() || nodeId
    const fields = { event_type: CURATOR_TYPE, node_id: nodeId, payload, source, ts: ts.toISOString() }
    if (signWith === undefined) {
      const key = dedupeKey === undefined ? {} : { dedupe_key: dedupeKey }
      return (await this.#call('POST', '/signals/submit', { ...fields, ...key })) as Stored
    }
    const body = { ...fields, dedupe_key: dedupeKey ?? randomUUID() }
    const text = submissionText({ ...body, contributor_id: await this.#contributorIdOf(nodeId) })
    return (await this.#call('POST', '/signals/submit', {
      ...body,
      signature: signWith.sign(text),
    })) as Stored
  }

  async #contributorIdOf(nodeId: string): Promise<string> {
    const known = this.#contributorIds.get(nodeId)
    if (known !== undefined) return known
    const found = (await this.contributors()).find((contributor) => contributor.node_id === nodeId)
    if (found === undefined) {
      throw new SignalEngineError(404, 'contributor.not_found', `no contributor has node_id ${nodeId}`)
    }
    this.#contributorIds.set(nodeId, found.id)
    return found.id
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { readonly code?: string; readonly detail?: string }
    if (response.ok) return answer
    // The contributor may have been registered anew, under another id.
    this.#contributorIds.clear()
    throw new SignalEngineError(response.status, answer.code ?? 'unknown', answer.detail ?? '')
  }
}

const CURATOR_TYPE = 'signal.curator.v1'

/** The text that a contributor signs: members of docs/signing.md, as RFC 8785 writes them. */
export const submissionText = (fields: JsonObject): string =>
  `signal-engine/submission/v1\n${canonicalJson(fields)}`

/** A key from its 32 bytes; without them, a new one. */
export const signingKey = (seed: Uint8Array = randomBytes(32)): SigningKey => {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    publicKey: spki.subarray(-32).toString('hex'),
    seed,
    sign: (text) => sign(null, Buffer.from(text), key).toString('hex'),
  }
}

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** RFC 8785: `JSON.stringify` with members sorted by UTF-16 code units. */
const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}
