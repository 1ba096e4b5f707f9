import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { z } from 'zod'
import type { Signatures } from '../../ports/signatures.ts'
import { connectionEnd, NONCE_BYTES, SERVICE_PROOF_PATH, serviceProofText } from '../service-proof.ts'

export interface OwnService {
  /** With the path prefix. What answers there has to prove what it is, wherever the address comes from. */
  readonly baseUrl: string
  /** Public key of the saved identity of this home; null without an identity. */
  readonly publicKey: string | null
  readonly signatures: Signatures
}

export interface SecretMessage {
  readonly method: 'GET' | 'POST'
  /** Below the path prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ServiceAnswer {
  readonly status: number
  readonly text: string
}

/** Raised when the answering program did not prove that it is the service of this home. No secret was sent to it. */
export class NotOwnServiceError extends Error {
  override readonly name = 'NotOwnServiceError'
}

/**
 * Sends a message with secrets to the service of this home. The service first proves, on the connection that then
 * carries the message, that it has the key of this home.
 */
export const sendToOwnService = async (
  service: OwnService,
  { method, path, headers, body }: SecretMessage,
  timeoutMs: number,
): Promise<ServiceAnswer> => {
  const { baseUrl, publicKey } = service
  if (publicKey === null) throw new NotOwnServiceError(NO_IDENTITY)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const nonce = randomBytes(NONCE_BYTES).toString('hex')
    const challenge = { method: 'GET', url: `${baseUrl}${SERVICE_PROOF_PATH}?nonce=${nonce}`, headers: {} }
    const proof = await exchange(challenge, { agent, signal, bytesMax: PROOF_BYTES_MAX })
    const text = serviceProofText(nonce, proof.end)
    const signatureHex = signatureIn(proof.text)
    const isSigned =
      signatureHex !== null && service.signatures.isSigned({ text, signatureHex, publicKeyHex: publicKey })
    if (!isSigned)
      throw new NotOwnServiceError(
        `what answers at ${baseUrl} did not prove that it has the key of this home`,
      )
    const message = { method, url: baseUrl + path, headers, body }
    return await exchange(message, { agent, signal, onlyOn: proof.socket })
  } finally {
    agent.destroy()
  }
}

const NO_IDENTITY =
  'this home has no saved identity (identity/identity.json), so no service can prove that it belongs to it'

const PROOF_BYTES_MAX = 16 * 1024

const proofAnswer = z.object({ signature: z.string() })

const signatureIn = (text: string): string | null => {
  try {
    return proofAnswer.parse(JSON.parse(text)).signature
  } catch {
    // Any other answer is no proof; the caller refuses to send its token.
    return null
  }
}

interface Exchange {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

interface ExchangeOptions {
  readonly agent: Agent
  readonly signal: AbortSignal
  readonly bytesMax?: number
  /** The connection that may carry the message. */
  readonly onlyOn?: Socket
}

type Exchanged = ServiceAnswer & {
  readonly socket: Socket
  /** The other end of the connection. */
  readonly end: string
}

/** Sends one request. Redirects are not followed, because they lead to another program. */
const exchange = (
  { method, url, headers, body }: Exchange,
  { agent, signal, bytesMax = Infinity, onlyOn }: ExchangeOptions,
): Promise<Exchanged> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, signal })
    sent.on('error', reject)
    // Nothing is sent, headers included, before the connection is known.
    sent.once('socket', (socket) => {
      if (onlyOn !== undefined && socket !== onlyOn) {
        sent.destroy(new NotOwnServiceError('the service closed the connection after its proof'))
        return
      }
      for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value)
      sent.end(body)
    })
    sent.on('response', (response) => {
      const { socket } = response
      const end = connectionEnd(socket.remoteAddress, socket.remotePort)
      const parts: Buffer[] = []
      let bytes = 0
      response.on('data', (part: Buffer) => {
        bytes += part.length
        if (bytes > bytesMax) sent.destroy(new Error('the answer is too long'))
        else parts.push(part)
      })
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8')
        // The connection is free for the next request only after this event.
        setImmediate(() => resolve({ status: response.statusCode ?? 0, text, socket, end }))
      })
    })
  })
