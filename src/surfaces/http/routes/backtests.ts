import { z } from 'zod'
import { hasEnded, type RunKind, type Submitted } from '../../../backtest/runs/runs.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { isOwnOrAny } from '../../../core/shared/fair-share.ts'
import { holderOf, type Caller } from '../../caller.ts'
import { backtestRequest, runResult, runView, sweepRequest } from '../../backtest-wire.ts'
import { EVENT_ID } from '../examples.ts'
import { pathText, textFilter } from '../fields.ts'
import { ok, refused, stream } from '../results.ts'
import { API_PREFIX, route, routes, type Service } from '../route.ts'

const BACKTEST_RUN = {
  id: EVENT_ID,
  kind: 'backtest',
  owner: 'token',
  status: 'done',
  request: { strategy: 'ma_crossover', parameters: { fast: 10, slow: 50 }, data: ['binance:BTC:5m'] },
  progress: 1,
  created_at: '2026-02-20T00:29:58.000Z',
  started_at: '2026-02-20T00:29:58.004Z',
  ended_at: '2026-02-20T00:30:09.731Z',
  attempts: 1,
  error: null,
  verdict: 'no edge found: p = 0.31, 42 trades',
  edge_found: false,
  figures: {
    total_return: 0.021,
    sharpe: 0.44,
    max_drawdown: 0.061,
    p_value: 0.31,
    trades: 42,
    days: 60,
  },
} as const

const runWithResult = runView
  .extend({ result: runResult.meta({ description: 'the report, once it is done' }) })
  .meta({ id: 'BacktestRunWithResult' })

const one = z.object({ id: pathText('the id of the run', EVENT_ID) })

const RANGE = { symbol: 'BTC', from: '2026-01-05T00:00:00Z', to: '2026-01-12T00:00:00Z' }

const REQUEST = { ...RANGE, strategy: 'ma_crossover', parameters: { fast: 10, slow: 50 } }

const SWEEP_REQUEST = { ...RANGE, strategy: 'ma_crossover', set: ['fast=5,10', 'slow=20,50'] }

const SWEEP_RUN = { ...BACKTEST_RUN, kind: 'sweep', request: SWEEP_REQUEST } as const

const detail = (kind: RunKind) => ({
  params: one,
  response: runWithResult,
  example: { ...BACKTEST_RUN, kind, result: null },
  problems: ['backtest.not_found'] as const,
  handler: async ({ params: { id } }: WithId, { backtests }: Service) => {
    const run = ofKind(await backtests.get(id), kind)
    return run === null ? unknownRun(id) : ok(run)
  },
})

const cancelling = (kind: RunKind) => ({
  params: one,
  response: z.object({ id: z.string(), status: z.enum(['cancelled', 'removed']) }),
  example: { id: EVENT_ID, status: 'cancelled' } as const,
  problems: ['backtest.not_found', 'auth.not_owner'] as const,
  author: () => null,
  handler: async (
    { params: { id }, caller }: WithId & { readonly caller: Caller },
    { backtests }: Service,
  ) => {
    const run = ofKind(await backtests.get(id), kind)
    if (run !== null && !isOwnOrAny(holderOf(caller), run.owner)) return notOwner(id)
    const status = run === null ? null : await backtests.cancel(id)
    return status === null ? unknownRun(id) : ok({ id, status })
  },
})

interface WithId {
  readonly params: { readonly id: string }
}

export const backtestRoutes = routes('Backtests', {
  startBacktest: route('POST', '/backtests', 'submit', {
    summary: 'Queue a backtest',
    description:
      'It runs in a process of its own, one at a time; `backtests.max_queued` may wait and run, of these a quarter of ' +
      'each access key and half of all keys together. Follow it at ' +
      '`/backtests/stream`. It moves no money and writes no event but the audit. Bars are those of `svc data`, of the ' +
      'log, or simulated: a request cannot name a file.',
    body: backtestRequest.meta({ examples: [REQUEST] }),
    response: runView,
    example: BACKTEST_RUN,
    successStatus: 202,
    problems: ['backtest.refused', 'backtest.queue_full'],
    author: () => null,
    handler: async ({ body, caller }, { backtests }) =>
      accepted(await backtests.submit('backtest', body as JsonObject, holderOf(caller)), 'backtests'),
  }),
  listBacktests: route('GET', '/backtests', 'read', {
    summary: 'Backtests, newest first, without their reports',
    response: z.object({ items: z.array(runView) }),
    example: { items: [BACKTEST_RUN] },
    handler: async (_input, { backtests }) => ok({ items: await backtests.list('backtest') }),
  }),
  streamBacktests: route('GET', '/backtests/stream', 'read', {
    streams: true,
    summary: 'Backtests and sweeps as server-sent events',
    description:
      'Messages of the type `backtest`, each with a run as it is: first those that wait or run, then every change, ' +
      'progress a few times a second. With `id`, only that run, and the stream ends with it.',
    query: z.object({ id: textFilter('only this run') }),
    response: z.string(),
    responseType: 'text/event-stream',
    example: `event: backtest\ndata: ${JSON.stringify({ run: BACKTEST_RUN })}\n\n`,
    problems: ['backtest.not_found', 'stream.too_many_clients'],
    handler: async ({ query: { id } }, { backtests, runStreams }) => {
      if (id === undefined) {
        const all = [...(await backtests.list('sweep')), ...(await backtests.list('backtest'))]
        const open = all.filter((run) => !hasEnded(run))
        return stream((connection) => runStreams.open(connection, null, open))
      }
      const run = await backtests.get(id)
      if (run === null) return unknownRun(id)
      const { result: _result, ...followed } = run
      return stream((connection) => runStreams.open(connection, followed, [followed]))
    },
  }),
  getBacktest: route('GET', '/backtests/:id', 'read', {
    summary: 'A backtest with its report',
    ...detail('backtest'),
  }),
  cancelBacktest: route('DELETE', '/backtests/:id', 'submit', {
    summary: 'Cancel a backtest, or forget one that has ended',
    ...cancelling('backtest'),
  }),
  startSweep: route('POST', '/sweeps', 'submit', {
    summary: 'Queue a sweep: a strategy with many parameters, corrected for so many trials',
    description:
      'It waits in the same queue as backtests, and every result of its runs is kept: after a restart it goes on where ' +
      'it stopped. Its progress is told at `/backtests/stream`.',
    body: sweepRequest.meta({ examples: [SWEEP_REQUEST] }),
    response: runView,
    example: SWEEP_RUN,
    successStatus: 202,
    problems: ['backtest.refused', 'backtest.queue_full'],
    author: () => null,
    handler: async ({ body, caller }, { backtests }) =>
      accepted(await backtests.submit('sweep', body as JsonObject, holderOf(caller)), 'sweeps'),
  }),
  listSweeps: route('GET', '/sweeps', 'read', {
    summary: 'Sweeps, newest first, without their results',
    response: z.object({ items: z.array(runView) }),
    example: { items: [SWEEP_RUN] },
    handler: async (_input, { backtests }) => ok({ items: await backtests.list('sweep') }),
  }),
  getSweep: route('GET', '/sweeps/:id', 'read', { summary: 'A sweep with its results', ...detail('sweep') }),
  cancelSweep: route('DELETE', '/sweeps/:id', 'submit', {
    summary: 'Cancel a sweep, or forget one that has ended',
    ...cancelling('sweep'),
  }),
})

const ofKind = <Item extends { readonly kind: RunKind }>(run: Item | null, kind: RunKind) =>
  run?.kind === kind ? (run as Item & { readonly result: Record<string, unknown> | null }) : null

const notOwner = (id: string) =>
  refused('auth.not_owner', 'The run is that of another caller', { extras: { id } })

const unknownRun = (id: string) =>
  refused('backtest.not_found', 'No backtest or sweep has this id', { extras: { id } })

const accepted = (submitted: Submitted, path: string) => {
  switch (submitted.status) {
    case 'accepted':
      return ok(submitted.run, { headers: { location: `${API_PREFIX}/${path}/${submitted.run.id}` } })
    case 'full':
      return refused(
        'backtest.queue_full',
        `${submitted.max} backtests and sweeps wait or run: no more are taken (backtests.max_queued, of which each access key ` +
          'has a quarter and all keys together half)',
        { extras: { max: submitted.max } },
      )
    case 'refused':
      return refused('backtest.refused', submitted.reason)
  }
}
