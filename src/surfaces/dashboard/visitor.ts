import type { IncomingHttpHeaders } from 'node:http'
import type { Desk } from './desk.ts'
import { isOwnHost } from './origin.ts'
import { sessionCookieOf, type Session } from './session.ts'

export type Visitor =
  | {
      readonly kind: 'stranger'
      /** Whether there was a session, which is over. */ readonly wasSignedIn: boolean
    }
  /** Nobody is asked for a token here. */
  | { readonly kind: 'anybody' }
  | { readonly kind: 'signed-in'; readonly session: Session }

export const visitorOf = (headers: IncomingHttpHeaders, { house, sealer }: Desk): Visitor => {
  const { api, dashboard } = house.configuration()
  const isInsecure = house.insecureOk && api.auth_token === ''
  if (isInsecure) return isOwnHost(headers.host, dashboard.host) ? ANYBODY : STRANGER
  const cookie = sessionCookieOf(headers.cookie)
  if (cookie === null) return STRANGER
  const session = sealer.unseal(cookie, house.clock.now())
  return session === null ? { kind: 'stranger', wasSignedIn: true } : { kind: 'signed-in', session }
}

const STRANGER: Visitor = { kind: 'stranger', wasSignedIn: false }
const ANYBODY: Visitor = { kind: 'anybody' }
