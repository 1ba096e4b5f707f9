import type { IncomingMessage } from 'node:http'
import { invalidProblem, problem, type Problem } from './problems.ts'
import { parseInTurns, parseStrictJson } from './strict-json.ts'

export interface BodyLimits {
  readonly bodyBytesMax: number
  readonly bodyTimeoutMs: number
}

export type RequestBody =
  | { readonly status: 'absent' }
  | { readonly status: 'present'; readonly value: unknown }
  | { readonly status: 'raw'; readonly bytes: Uint8Array }
  | { readonly status: 'refused'; readonly problem: Problem }

/** The client hung up: there is no one to answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
  constructor() {
    super('the client went away before its request was complete')
  }
}

/** Read and discarded beyond the limit, so that a client which sends everything before it reads gets the response. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024

interface ReadOptions {
  readonly form?: 'parsed' | 'raw'
  /** Waited for before what was received is parsed, and between the steps of parsing where it is long. */
  readonly untilTurn?: (bytes: number) => Promise<void>
}

/** A shorter body is parsed within a turn. */
export const SHORT_BYTES_MAX = 16 * 1024

/** Checks in the order 413, 415, 400, then values without meaning (422). An empty body counts as absent. */
export const readBody = async (
  request: IncomingMessage,
  limits: BodyLimits,
  { form = 'parsed', untilTurn }: ReadOptions = {},
): Promise<RequestBody> => {
  const received = await receive(request, limits)
  switch (received.status) {
    case 'late':
      return refuse(
        problem('request.timeout', 'The body did not arrive in time', { headers: { connection: 'close' } }),
      )
    case 'too-large':
      return refuse(tooLarge(limits.bodyBytesMax, received.endless))
    case 'received':
      if (received.bytes.length === 0) return { status: 'absent' }
      await untilTurn?.(received.bytes.length)
      return read(request, received.bytes, form, untilTurn)
  }
}

/**
 * Reads the body of a request that is already refused: a client that sends everything before it reads would miss the
 * response if the connection closed meanwhile. Where the connection stays open, Node discards the rest.
 */
export const discardBody = async (request: IncomingMessage, bodyTimeoutMs: number): Promise<void> => {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  if (length !== '0' || encoding !== undefined) await receive(request, { bodyBytesMax: 0, bodyTimeoutMs })
}

const read = async (
  request: IncomingMessage,
  bytes: Buffer,
  form: 'parsed' | 'raw',
  untilTurn: ReadOptions['untilTurn'],
): Promise<RequestBody> => {
  if (!isJson(request.headers['content-type'], request.headers['content-encoding'])) {
    return refuse(
      problem('request.unsupported_media_type', 'The body must be sent as application/json, uncompressed'),
    )
  }
  if (form === 'raw') return { status: 'raw', bytes }
  const isShort = untilTurn === undefined || bytes.length <= SHORT_BYTES_MAX
  const parsed = isShort ? parseStrictJson(bytes) : await parseInTurns(bytes, () => untilTurn(bytes.length))
  switch (parsed.status) {
    case 'parsed':
      return { status: 'present', value: parsed.value }
    case 'malformed':
      return refuse(problem('request.malformed_json', parsed.detail))
    case 'oversized':
    case 'invalid':
      return refuse(invalidProblem(parsed.faults))
  }
}

const refuse = (refusal: Problem): RequestBody => ({ status: 'refused', problem: refusal })

const tooLarge = (limitBytes: number, endless: boolean): Problem =>
  problem('request.too_large', `The body must not be larger than ${limitBytes} bytes`, {
    extras: { limit_bytes: limitBytes },
    headers: endless ? { connection: 'close' } : {},
  })

/** No type counts as JSON. */
const isJson = (contentType = '', contentEncoding = 'identity'): boolean => {
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length)
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset)
  return (mediaType === '' || mediaType === 'application/json') && isUtf8 && contentEncoding === 'identity'
}

type Received =
  | { readonly status: 'received'; readonly bytes: Buffer }
  /** `endless`: the rest is not waited for. */
  | { readonly status: 'too-large'; readonly endless: boolean }
  | { readonly status: 'late' }

const receive = (request: IncomingMessage, limits: BodyLimits): Promise<Received> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const isTooLarge = (): boolean => length > limits.bodyBytesMax

    const settle = (received: Received): void => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      resolve(received)
    }
    const onData = (chunk: Buffer): void => {
      length += chunk.length
      if (!isTooLarge()) chunks.push(chunk)
      else if (length > limits.bodyBytesMax + DISCARDED_BYTES_MAX)
        settle({ status: 'too-large', endless: true })
      else chunks.length = 0
    }
    const onEnd = (): void =>
      settle(
        isTooLarge()
          ? { status: 'too-large', endless: false }
          : { status: 'received', bytes: Buffer.concat(chunks) },
      )
    // Stays attached to `error`, so that one after the end is not uncaught.
    const onGone = (): void => {
      clearTimeout(timer)
      reject(new ClientGoneError())
    }
    const timer = setTimeout(
      () => settle(isTooLarge() ? { status: 'too-large', endless: true } : { status: 'late' }),
      limits.bodyTimeoutMs,
    )
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
