import { QueryClient } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import { queries } from '../api/queries.ts'
import type { BacktestRun } from '../api/types.ts'
import { takeRun } from './runs.ts'

const run = (id: string, changes: Partial<BacktestRun> = {}): BacktestRun => ({
  id,
  kind: 'backtest',
  owner: 'token',
  status: 'running',
  request: {},
  progress: 0.1,
  created_at: `2026-01-01T00:00:0${id}.000Z`,
  started_at: null,
  ended_at: null,
  attempts: 1,
  error: null,
  verdict: null,
  edge_found: null,
  figures: null,
  ...changes,
})

const LIST = queries.backtests().queryKey

const isStale = (client: QueryClient, key: readonly unknown[]): boolean | undefined =>
  client.getQueryState(key)?.isInvalidated

describe('a run in a message of the stream', () => {
  it('takes its place in the list, and moves on in its own sheet', () => {
    const client = new QueryClient()
    const one = queries.backtest('1').queryKey
    client.setQueryData(LIST, [run('2'), run('1')])
    client.setQueryData(one, { ...run('1'), result: null })
    takeRun(client, run('1', { progress: 0.7 }))
    takeRun(client, run('3'))
    expect(client.getQueryData(LIST)?.map(({ id, progress }) => [id, progress])).toEqual([
      ['3', 0.1],
      ['2', 0.1],
      ['1', 0.7],
    ])
    expect(client.getQueryData(one)).toEqual({ ...run('1', { progress: 0.7 }), result: null })
    expect([isStale(client, LIST), isStale(client, one)]).toEqual([false, false])
  })

  it('is asked for again when it has ended, since its result is not in the message', () => {
    const client = new QueryClient()
    const one = queries.backtest('1').queryKey
    client.setQueryData(LIST, [run('1')])
    client.setQueryData(one, { ...run('1'), result: null })
    takeRun(client, run('1', { status: 'done', progress: 1 }))
    expect([isStale(client, LIST), isStale(client, one)]).toEqual([true, true])
  })

  it('is nothing to a page that has not asked yet', () => {
    const client = new QueryClient()
    takeRun(client, run('1'))
    expect(client.getQueryData(LIST)).toBeUndefined()
  })
})
