import {
  queryOptions,
  useInfiniteQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query'
import { api, dataOf, isNotFound, withPayload } from './client.ts'
import type { EventFilter, EventRecord, Integrity, IntentStatus, Session, VerifyProgress } from './types.ts'

/** The first part of every key. live/live.ts defines which events make which resource stale. */
export type Resource =
  | 'alerts'
  | 'attribution'
  | 'authors'
  | 'backtests'
  | 'brain-status'
  | 'config'
  | 'contributors'
  | 'equity'
  | 'events'
  | 'explanation'
  | 'health'
  | 'intents'
  | 'karma'
  | 'kill-switch'
  | 'learning'
  | 'live'
  | 'orders'
  | 'portfolio'
  | 'positions'
  | 'prices'
  | 'producers'
  | 'provenance'
  | 'regime'
  | 'scores'

const read = <Data>(
  [resource, ...key]: readonly [Resource, ...unknown[]],
  get: (signal: AbortSignal) => Promise<{ readonly data?: Data }>,
) =>
  queryOptions({
    queryKey: [resource, ...key] as const,
    queryFn: ({ signal }) => dataOf(get(signal)),
  })

const byId = (id: string) => ({ params: { path: { id } } })

const PRICES_MS = 15_000

/** All queries of the pages, one function per resource. */
export const queries = {
  alerts: () => read(['alerts'], (signal) => api.GET('/alerts', { signal })),
  attribution: (signal_id: string) =>
    read(['attribution', signal_id], (signal) =>
      api.GET('/signals/{signal_id}/attribution', { params: { path: { signal_id } }, signal }),
    ),
  authors: (limit: number) =>
    read(['authors', limit], (signal) => api.GET('/authors', { params: { query: { limit } }, signal })),
  /** Backtests and sweeps, newest first. live/runs.ts keeps them current. */
  backtests: () =>
    queryOptions({
      queryKey: ['backtests'] as const,
      queryFn: async ({ signal }) => {
        const [backtests, sweeps] = await Promise.all([
          dataOf(api.GET('/backtests', { signal })),
          dataOf(api.GET('/sweeps', { signal })),
        ])
        return [...backtests.items, ...sweeps.items].toSorted((one, other) =>
          one.created_at < other.created_at ? 1 : -1,
        )
      },
    }),
  /** A backtest or a sweep, with its result. */
  backtest: (id: string) =>
    queryOptions({
      queryKey: ['backtests', id] as const,
      queryFn: async ({ signal }) => {
        try {
          return await dataOf(api.GET('/backtests/{id}', { ...byId(id), signal }))
        } catch (error) {
          if (!isNotFound(error)) throw error
          return dataOf(api.GET('/sweeps/{id}', { ...byId(id), signal }))
        }
      },
    }),
  brainStatus: () => read(['brain-status'], (signal) => api.GET('/brain/status', { signal })),
  config: () => read(['config'], (signal) => api.GET('/config', { signal })),
  configSchema: () => read(['config', 'schema'], (signal) => api.GET('/config/schema', { signal })),
  /** Contribution by the key of an author. */
  contribution: (author: string) =>
    read(['authors', 'one', author], (signal) => {
      const [kind = '', ...name] = author.split(':')
      const id = name.join(':')
      return kind === 'producer'
        ? api.GET('/producers/{name}/contribution', { params: { path: { name: id } }, signal })
        : api.GET('/contributors/{id}/contribution', { ...byId(id), signal })
    }),
  contributor: (id: string) =>
    read(['contributors', id], (signal) => api.GET('/contributors/{id}', { ...byId(id), signal })),
  contributors: () => read(['contributors'], (signal) => api.GET('/contributors', { signal })),
  equity: (hours: number) =>
    read(['equity', hours], (signal) =>
      api.GET('/portfolio/history', { params: { query: { hours } }, signal }),
    ),
  event: (id: string) =>
    queryOptions({
      queryKey: ['events', id] as const,
      queryFn: ({ signal }) => readEvent(id, signal),
      staleTime: Infinity,
    }),
  events: (filter: EventFilter) =>
    queryOptions({
      queryKey: ['events', filter] as const,
      queryFn: ({ signal }) => readEvents(filter, signal),
    }),
  explanation: (id: string) =>
    read(['explanation', id], (signal) => api.GET('/brain/explain/{id}', { ...byId(id), signal })),
  health: () => read(['health'], (signal) => api.GET('/health', { signal })),
  intents: (status: IntentStatus | 'all' = 'all', limit = 100) =>
    read(['intents', status, limit], (signal) =>
      api.GET('/intents', { params: { query: { status, limit } }, signal }),
    ),
  karmaIntents: () => read(['karma', 'intents'], (signal) => api.GET('/karma/intents', { signal })),
  karmaReceipts: () => read(['karma', 'receipts'], (signal) => api.GET('/karma/receipts', { signal })),
  killSwitch: () => read(['kill-switch'], (signal) => api.GET('/kill-switch', { signal })),
  leaderboard: (limit: number) =>
    read(['scores', limit], (signal) =>
      api.GET('/contributors/leaderboard', { params: { query: { limit } }, signal }),
    ),
  live: () => read(['live'], (signal) => api.GET('/live', { signal })),
  orders: (limit = 100) =>
    read(['orders', limit], (signal) => api.GET('/orders', { params: { query: { limit } }, signal })),
  portfolio: () => read(['portfolio'], (signal) => api.GET('/portfolio', { signal })),
  position: (position_id: string) =>
    read(['positions', position_id], (signal) =>
      api.GET('/positions/{position_id}', { params: { path: { position_id } }, signal }),
    ),
  positions: (status: 'open' | 'closed') =>
    read(['positions', status, 'list'], (signal) =>
      api.GET('/positions', { params: { query: { status } }, signal }),
    ),
  /** Polled, because no event reports that a price gets old. */
  prices: () => ({
    ...read(['prices'], (signal) => api.GET('/prices', { signal })),
    refetchInterval: PRICES_MS,
  }),
  producerStatus: () => read(['producers'], (signal) => api.GET('/producers/status', { signal })),
  provenance: (producer_id: string) =>
    read(['provenance', producer_id], (signal) =>
      api.GET('/oracle/producers/{producer_id}/provenance', { params: { path: { producer_id } }, signal }),
    ),
  regime: () => read(['regime'], (signal) => api.GET('/regime', { signal })),
  score: (id: string) =>
    read(['scores', 'one', id], (signal) => api.GET('/contributors/{id}/score', { ...byId(id), signal })),
  session: () =>
    queryOptions({
      queryKey: ['session'] as const,
      queryFn: async ({ signal }) => (await fetch('/session', { signal })).json() as Promise<Session>,
    }),
  treasury: () => read(['karma', 'treasury'], (signal) => api.GET('/treasury', { signal })),
  weights: () =>
    read(['learning'], (signal) =>
      api.GET('/learning/weights', { params: { query: { limit: 200 } }, signal }),
    ),
} as const

export const readEvent = async (id: string, signal?: AbortSignal): Promise<EventRecord> =>
  withPayload(await dataOf(api.GET('/events/{id}', { ...byId(id), signal: signal ?? null })))

export interface EventPage {
  readonly items: readonly EventRecord[]
  readonly next_seq: number | null
}

export const readEvents = async (query: EventFilter, signal?: AbortSignal): Promise<EventPage> => {
  const page = await dataOf(api.GET('/events', { params: { query }, signal: signal ?? null }))
  return { items: page.items.map(withPayload), next_seq: page.next_seq }
}

/** Events newest first, page by page. New events do not refresh the list, so that it does not move while it is read. */
export const useEventPages = (
  filter: EventFilter,
): UseInfiniteQueryResult<InfiniteData<EventPage>> & { readonly records: readonly EventRecord[] } => {
  const query = useInfiniteQuery({
    queryKey: ['event-pages', filter] as const,
    queryFn: ({ pageParam, signal }) =>
      readEvents({ ...filter, limit: 200, ...(pageParam === null ? {} : { before_seq: pageParam }) }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_seq }) => next_seq,
    staleTime: 0,
    gcTime: 0,
  })
  return { ...query, records: query.data?.pages.flatMap(({ items }) => items) ?? [] }
}

/** Verification is expensive for the service, so it runs on request and is not refreshed. */
export const verifyChain = async (
  query: { readonly mode: 'fast' | 'full'; readonly n?: number },
  onProgress?: (progress: VerifyProgress | null) => void,
): Promise<Integrity> => {
  const answer = await dataOf(api.GET('/integrity', { params: { query } }))
  if (!('job' in answer)) return answer
  // Verification takes longer than a second: the job has the report once it is done.
  const { id } = answer.job
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, VERIFY_POLL_MS))
    const { job } = await dataOf(api.GET('/integrity/progress', { params: { query: { job: id } } }))
    if (job?.report) return job.report
    onProgress?.(job?.progress ?? null)
    if (job?.status === 'failed')
      throw new Error('The verification could not be finished; see the log of the service')
  }
}

const VERIFY_POLL_MS = 500
