import { queryOptions } from '@tanstack/react-query'
import { callApi, queryOf } from './client.ts'
import type {
  Attribution,
  Configuration,
  ConfigurationForm,
  EventPage,
  EventRecord,
  Health,
  Integrity,
  Session,
  SignalPage,
  VerifyProgress,
} from './log.ts'
import type {
  Contributor,
  KarmaIntent,
  KarmaReceipt,
  ProducerStatus,
  Provenance,
  Score,
  Treasury,
} from './people.ts'
import type {
  BrainStatus,
  EquityHistory,
  Explanation,
  Intent,
  IntentStatus,
  KillSwitch,
  LearnedWeights,
  Order,
  Portfolio,
  Position,
  RegimeView,
} from './trading.ts'

/** The first word of every key: what the stream calls stale (see live/invalidation.ts). */
export type Resource =
  | 'attribution'
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
  | 'orders'
  | 'portfolio'
  | 'positions'
  | 'producers'
  | 'provenance'
  | 'regime'
  | 'scores'
  | 'signals'

const read = <Body>(resource: Resource, path: string, ...more: readonly unknown[]) =>
  queryOptions({
    queryKey: [resource, path, ...more] as const,
    queryFn: ({ signal }) => callApi<Body>(path, { signal }),
  })

/** Everything that pages read. One function per resource; the key follows from the path. */
export const queries = {
  attribution: (signalId: string) =>
    read<Attribution>('attribution', `/signals/${encodeURIComponent(signalId)}/attribution`),
  brainStatus: () => read<BrainStatus>('brain-status', '/brain/status'),
  config: () => read<Configuration>('config', '/config'),
  configForm: () => read<ConfigurationForm>('config', '/config/schema'),
  contributor: (id: string) => read<Contributor>('contributors', `/contributors/${encodeURIComponent(id)}`),
  contributors: () => read<readonly Contributor[]>('contributors', '/contributors'),
  equity: (hours: number) => read<EquityHistory>('equity', `/portfolio/history${queryOf({ hours })}`),
  event: (id: string) => read<EventRecord>('events', `/events/${encodeURIComponent(id)}`),
  events: (filter: EventFilter) => read<EventPage>('events', `/events${queryOf({ ...filter })}`),
  explanation: (id: string) => read<Explanation>('explanation', `/brain/explain/${encodeURIComponent(id)}`),
  health: () => read<Health>('health', '/health'),
  intents: (status: IntentStatus | 'all' = 'all', limit = 100) =>
    read<readonly Intent[]>('intents', `/intents${queryOf({ status, limit })}`),
  karmaIntents: () => read<{ readonly items: readonly KarmaIntent[] }>('karma', '/karma/intents'),
  karmaReceipts: () => read<{ readonly items: readonly KarmaReceipt[] }>('karma', '/karma/receipts'),
  killSwitch: () => read<KillSwitch>('kill-switch', '/kill-switch'),
  leaderboard: (limit = 50) =>
    read<readonly Score[]>('scores', `/contributors/leaderboard${queryOf({ limit })}`),
  orders: (limit = 100) => read<readonly Order[]>('orders', `/orders${queryOf({ limit })}`),
  portfolio: () => read<Portfolio>('portfolio', '/portfolio'),
  position: (id: string) => read<Position>('positions', `/positions/${encodeURIComponent(id)}`),
  positions: (status: 'open' | 'closed' | 'all' = 'open', limit = 500) =>
    read<readonly Position[]>('positions', `/positions${queryOf({ status, limit })}`),
  producerStatus: () =>
    read<{ readonly producers: Readonly<Record<string, ProducerStatus>> }>('producers', '/producers/status'),
  provenance: (id: string) =>
    read<Provenance>('provenance', `/oracle/producers/${encodeURIComponent(id)}/provenance`),
  regime: () => read<RegimeView>('regime', '/regime'),
  score: (contributorId: string) =>
    read<Score>('scores', `/contributors/${encodeURIComponent(contributorId)}/score`),
  /** Of the dashboard itself, not of the API. */
  session: () =>
    queryOptions({
      queryKey: ['session'] as const,
      queryFn: async ({ signal }) => (await fetch('/session', { signal })).json() as Promise<Session>,
    }),
  signals: (filter: { readonly domain?: string; readonly limit?: number; readonly offset?: number }) =>
    read<SignalPage>('signals', `/signals${queryOf({ ...filter })}`),
  weights: (limit = 200) => read<LearnedWeights>('learning', `/learning/weights${queryOf({ limit })}`),
  treasury: () => read<Treasury>('karma', '/treasury'),
} as const

export interface EventFilter {
  readonly type?: string
  readonly symbol?: string
  /** An id, `trace:<trace id>` or `source:<author of signals>`. */
  readonly about?: string
  /** Exactly; any event. */
  readonly source?: string
  /** When it was recorded: from (inclusive), to (exclusive). ISO 8601. */
  readonly from?: string
  readonly to?: string
  readonly since?: string
  readonly after_seq?: number
  readonly before_seq?: number
  readonly order?: 'asc' | 'desc'
  readonly limit?: number
}

/** Verification is asked for, never refreshed by itself: it costs the service something. */
export const verifyChain = (request: {
  readonly mode: 'fast' | 'full'
  readonly n?: number
}): Promise<Integrity> => callApi<Integrity>(`/integrity${queryOf({ ...request })}`)

export const readVerifyProgress = (): Promise<{ readonly progress: VerifyProgress | null }> =>
  callApi('/integrity/progress')
