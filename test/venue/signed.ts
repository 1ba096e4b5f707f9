import { createHmac, timingSafeEqual } from 'node:crypto'
import { VenueRefusal } from './refusal.ts'
import { venueNow, type World } from './world.ts'

export interface SignedRequest {
  readonly apiKey: string
  /** Query and body as they came, one after the other. */
  readonly text: string
}

/** What was asked for, if it is the customer who asks, and asks now. */
export const readSigned = (world: World, { apiKey, text }: SignedRequest): URLSearchParams => {
  if (apiKey !== world.account.apiKey)
    throw new VenueRefusal(-2015, 'Invalid API-key, IP, or permissions for action.', 401)
  const [signed = '', signature = ''] = text.split('&signature=')
  const expected = createHmac('sha256', world.account.secret).update(signed).digest()
  const told = Buffer.from(signature, 'hex')
  if (told.length !== expected.length || !timingSafeEqual(told, expected))
    throw new VenueRefusal(-1022, 'Signature for this request is not valid.')
  const query = new URLSearchParams(signed)
  checkTime(venueNow(world), query)
  return query
}

const checkTime = (nowMs: number, query: URLSearchParams): void => {
  const timestamp = query.get('timestamp')
  if (timestamp === null || !/^\d+$/.test(timestamp))
    throw new VenueRefusal(
      -1102,
      "Mandatory parameter 'timestamp' was not sent, was empty/null, or malformed.",
    )
  const windowMs = Number(query.get('recvWindow') ?? 5000)
  if (windowMs > 60_000) throw new VenueRefusal(-1131, 'recvWindow must be less than 60000')
  if (Number(timestamp) > nowMs + 1000)
    throw new VenueRefusal(-1021, "Timestamp for this request was 1000ms ahead of the server's time.")
  if (nowMs - Number(timestamp) > windowMs)
    throw new VenueRefusal(-1021, 'Timestamp for this request is outside of the recvWindow.')
}
