import { timestampAt } from '../../../core/shared/time.ts'
import type { Clock } from '../../../ports/clock.ts'
import { fetchResponse, type FetchResult } from './fetch-response.ts'
import { findAddress, resolveBySystem, type Resolve } from './address.ts'
import { readResponse, type PolledRow, type Reading, type RejectedRow } from './read-response.ts'

export type PollResult =
  | {
      readonly status: 'rows'
      readonly rows: readonly PolledRow[]
      /** The first items that were skipped. */
      readonly rejected: readonly RejectedRow[]
      /** How many were, and why; null if none was. */
      readonly error: string | null
    }
  /** We may not go there, are not wanted there, or found nothing to use. */
  | { readonly status: 'degraded'; readonly error: string; readonly rejected: readonly RejectedRow[] }
  /** Something is broken: the network, the other side, or what it sends. */
  | { readonly status: 'error'; readonly error: string }

export interface PollRules {
  readonly allowPrivateEndpoints: boolean
  /** For all of it: name, connection and the complete response. */
  readonly timeoutMs: number
  readonly domain: string
  readonly futureSkewSecondsMax: number
}

export interface PollEnvironment {
  readonly clock: Pick<Clock, 'now'>
  readonly resolve?: Resolve
  /** Breaks off, for a service that is stopping. */
  readonly signal?: AbortSignal
}

/** Asks one producer for its signals. Never rejects for anything that the other side could do. */
export const pollEndpoint = async (
  endpoint: string,
  rules: PollRules,
  environment: PollEnvironment,
): Promise<PollResult> => {
  const { timeoutMs } = rules
  const { signal: stopping } = environment
  const late = AbortSignal.timeout(timeoutMs)
  const signal = stopping === undefined ? late : AbortSignal.any([late, stopping])
  try {
    // Sockets are broken off by the signal; a name service cannot be.
    return await Promise.race([fetchAndRead(endpoint, rules, environment, signal), abortOf(signal)])
  } catch (error) {
    if (stopping?.aborted === true) return failed('polling was stopped')
    if (late.aborted) return failed(`no complete response within ${timeoutMs} ms`)
    if (isNetworkError(error)) return failed(`the connection failed: ${error.code}`)
    throw error
  }
}

const fetchAndRead = async (
  endpoint: string,
  { allowPrivateEndpoints, domain, futureSkewSecondsMax }: PollRules,
  { clock, resolve = resolveBySystem }: PollEnvironment,
  signal: AbortSignal,
): Promise<PollResult> => {
  const found = await findAddress(endpoint, { allowPrivateEndpoints, resolve })
  if (found.status === 'refused') return degraded(found.reason)
  const { url, host, addresses } = found
  const response = await fetchResponse({ url, host, addresses, signal })
  if (response.status !== 'received') return refusedBy(response)
  const now = timestampAt(clock.now())
  return resultOf(readResponse(response.body, { now, domain, futureSkewSecondsMax }))
}

/** Rejects with the reason of the signal. */
const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })

const refusedBy = ({ status, reason }: Exclude<FetchResult, { status: 'received' }>): PollResult =>
  status === 'denied' ? degraded(reason) : failed(reason)

const resultOf = (reading: Reading): PollResult => {
  switch (reading.status) {
    case 'malformed':
      return failed(reading.reason)
    case 'unusable':
      return degraded(reading.reason)
    case 'read':
      break
  }
  const { rows, rejected, summary } = reading
  return rows.length === 0
    ? degraded(summary ?? 'the response holds no items', rejected)
    : { status: 'rows', rows, rejected, error: summary }
}

const degraded = (error: string, rejected: readonly RejectedRow[] = []): PollResult => ({
  status: 'degraded',
  error,
  rejected,
})

const failed = (error: string): PollResult => ({ status: 'error', error })

/** Everything that sockets, names, certificates and the HTTP parser can say carries a code. */
const isNetworkError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
