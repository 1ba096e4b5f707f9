import { z } from 'zod'
import { faultOf } from '../../shared/faults.ts'
import { choice, flag, group, plainText, secret, text, whole } from './kinds.ts'

const host = () =>
  plainText(1, 255)
    .regex(/^[A-Za-z0-9._:%-]+$/, { error: 'must be a host name or address' })
    .default('127.0.0.1')
    .describe('address to listen on')

const port = (fallback: number) => whole(fallback, 0, 65_535, 'port to listen on (0 = any free one)')

const token = (description: string) =>
  secret(
    'value',
    z
      .string()
      .trim()
      .max(512)
      .regex(/^[^\s\p{Cc}]*$/u, { error: 'must not contain blanks' })
      .refine((value) => value.isWellFormed(), faultOf('unicode_invalid', 'must be well-formed Unicode'))
      .default('')
      .describe(description),
  )

/** Lower case without path, exactly as browsers send it. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/

const origin = plainText(1, 255).refine(
  (value) => ORIGIN.test(value),
  faultOf('url_invalid', 'must be an exact origin in lower case, such as https://app.example.com'),
)

const isStoreUrl = (url: string): boolean =>
  url === '' || (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url))

export const api = group('The HTTP API', {
  host: host(),
  port: port(5050),
  auth_token: token('bearer token of all requests; 32 or more random characters'),
  operator_token: token('second token, then needed to lower the kill switch or set limits'),
  cors_origins: z
    .array(origin)
    .max(100)
    .default([])
    .describe('web origins that may call the API (empty = none)'),
  rate_limit_per_minute: whole(0, 0, 100_000, 'requests per token or address (0 = no limit)'),
  drain_seconds: whole(5, 0, 300, 'after SIGTERM, while a load balancer asks for /ready'),
})

export const dashboard = group('The web dashboard', {
  enabled: flag(true, 'serve it'),
  host: host(),
  port: port(5051),
})

export const backtests = group('Backtests and sweeps that the service is asked for', {
  max_queued: whole(20, 1, 1000, 'how many may wait and run'),
  keep: whole(100, 1, 10_000, 'how many results are kept'),
})

export const stream = group('The event stream', {
  keep_alive_seconds: whole(15, 1, 300, 'silence before a comment is sent'),
  buffer_events: whole(1000, 10, 100_000, 'events waiting before a slow client is disconnected'),
  max_clients: whole(10_000, 1, 10_000, 'clients at once'),
})

export const trace = group('Trace sessions', {
  session_ttl_hours: whole(24, 1, 720, 'hours after the last access until a session expires'),
})

const isWebhook = (url: string): boolean => url === '' || /^https?:\/\/[^\s]+$/.test(url)

export const store = group('The event store', {
  url: secret(
    'password',
    plainText(0, 2048)
      .refine(isStoreUrl, faultOf('url_invalid', 'must be empty or a postgres:// or postgresql:// URL'))
      .default('')
      .describe('PostgreSQL address (empty = SQLite in data/events.db)'),
  ),
  checkpoint_file: text('', 4096, 'where signed checkpoints go (empty = beside the database)'),
  checkpoint_webhook: secret(
    'path',
    plainText(0, 2048)
      .refine(isWebhook, faultOf('url_invalid', 'must be empty or an http:// or https:// URL'))
      .default('')
      .describe('each checkpoint is posted here (empty = nowhere)'),
  ),
  checkpoint_every_events: whole(1000, 1, 1_000_000, 'events between checkpoints'),
  checkpoint_every_seconds: whole(10, 1, 3600, 'or this much time'),
  snapshot_every_events: whole(10_000, 1, 100_000_000, 'events between snapshots of the state'),
  lease_seconds: whole(5, 1, 300, 'a leader that stands still is replaced within this time'),
})

export const identity = group("This node's identity", {
  node_prefix: plainText(1, 16)
    .regex(/^[a-z][a-z0-9]{0,15}$/, { error: 'must be lower-case letters and digits, a letter first' })
    .default('svc')
    .describe('first part of the node id'),
})

export const audit = group('Audit', { reads: flag(false, 'also record successful reads') })

export const metrics = group('Metrics', { public: flag(false, 'serve /metrics without a token') })

export const logging = group('Logs', {
  level: choice('INFO', ['DEBUG', 'INFO', 'WARNING', 'ERROR'], 'DEBUG, INFO, WARNING or ERROR'),
  json_output: flag(false, 'one JSON object per line'),
})
