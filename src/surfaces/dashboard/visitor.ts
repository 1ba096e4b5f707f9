import type { IncomingHttpHeaders } from 'node:http'
import type { DashboardHouse } from './house.ts'
import { isOwnHost } from './origin.ts'
import { sessionCookieOf, unseal, type Session } from './session.ts'

export type Visitor =
  | { readonly kind: 'stranger' }
  /** Nobody is asked for a token here. */
  | { readonly kind: 'anybody' }
  | { readonly kind: 'signed-in'; readonly session: Session }

export const visitorOf = (headers: IncomingHttpHeaders, house: DashboardHouse): Visitor => {
  const { api, dashboard } = house.configuration()
  const isInsecure = house.insecureOk && api.auth_token === ''
  if (isInsecure) return isOwnHost(headers.host, dashboard.host) ? ANYBODY : STRANGER
  const cookie = sessionCookieOf(headers.cookie)
  const session = cookie === null ? null : unseal(cookie, house.sessionKey, house.clock.now())
  return session === null ? STRANGER : { kind: 'signed-in', session }
}

const STRANGER: Visitor = { kind: 'stranger' }
const ANYBODY: Visitor = { kind: 'anybody' }
