import { createHmac, timingSafeEqual } from 'node:crypto'
import { exchangeNow, type ExchangeState } from './exchange-state.ts'

export interface SignedRequest {
  readonly apiKey: string
  /** Query and body as received, one after the other. */
  readonly text: string
}

/** Parameters of a request with a valid key, signature and time. */
export const readSigned = (world: ExchangeState, { apiKey, text }: SignedRequest): URLSearchParams => {
  if (apiKey !== world.account.apiKey)
    throw new ExchangeRefusal(-2015, 'Invalid API-key, IP, or permissions for action.', 401)
  const [signed = '', signature = ''] = text.split('&signature=')
  const expected = createHmac('sha256', world.account.secret).update(signed).digest()
  const reported = Buffer.from(signature, 'hex')
  if (reported.length !== expected.length || !timingSafeEqual(reported, expected))
    throw new ExchangeRefusal(-1022, 'Signature for this request is not valid.')
  const query = new URLSearchParams(signed)
  checkTime(exchangeNow(world), query)
  return query
}

const checkTime = (nowMs: number, query: URLSearchParams): void => {
  const timestamp = query.get('timestamp')
  if (timestamp === null || !/^\d+$/.test(timestamp))
    throw new ExchangeRefusal(
      -1102,
      "Mandatory parameter 'timestamp' was not sent, was empty/null, or malformed.",
    )
  const windowMs = Number(query.get('recvWindow') ?? 5000)
  if (windowMs > 60_000) throw new ExchangeRefusal(-1131, 'recvWindow must be less than 60000')
  if (Number(timestamp) > nowMs + 1000)
    throw new ExchangeRefusal(-1021, "Timestamp for this request was 1000ms ahead of the server's time.")
  if (nowMs - Number(timestamp) > windowMs)
    throw new ExchangeRefusal(-1021, 'Timestamp for this request is outside of the recvWindow.')
}

/** A refusal of the venue, with its own code. */
export class ExchangeRefusal extends Error {
  override readonly name = 'ExchangeRefusal'
  readonly code: number
  readonly status: number
  constructor(code: number, message: string, status = 400) {
    super(message)
    this.code = code
    this.status = status
  }
}
