import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { API, ApiError } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { BacktestRun } from '../api/types.ts'
import { useConnectionStatus } from './live.ts'
import { readMessages } from './stream.ts'

const RETRY_MS = 4000

/** Follows backtests and sweeps while a page that shows them is visible. A hidden tab keeps no connection for it. */
export const useRunStream = (): void => {
  const client = useQueryClient()
  // Runs are followed only while the event stream is connected.
  const isLive = useConnectionStatus() === 'live'
  useEffect(() => {
    if (!isLive) return undefined
    let following: AbortController | null = null
    const look = (): void => {
      if (document.hidden) {
        following?.abort()
        following = null
      } else if (following === null) {
        following = new AbortController()
        void follow(client, following.signal)
      }
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      following?.abort()
    }
  }, [client, isLive])
}

const follow = async (client: QueryClient, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    try {
      const response = await fetch(`${API}/backtests/stream`, {
        headers: { accept: 'text/event-stream' },
        signal,
      })
      if (!response.ok || response.body === null) throw new ApiError(response.status, {})
      // Runs that ended before the stream opened are in no message, so everything is refreshed.
      refresh(client)
      for await (const messages of readMessages(response.body, () => undefined))
        for (const data of messages) takeRun(client, (JSON.parse(data) as { readonly run: BacktestRun }).run)
    } catch (error) {
      if (signal.aborted) return
      refresh(client)
      // The session is over. The requests above detect that, too.
      if (error instanceof ApiError && error.status === 401) return
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

const refresh = (client: QueryClient): void =>
  void client.invalidateQueries({ queryKey: queries.backtests().queryKey }).catch(() => undefined)

/** Stores the state of a run in the list and in its own sheet. */
export const takeRun = (client: QueryClient, run: BacktestRun): void => {
  const { queryKey: listKey } = queries.backtests()
  const { queryKey } = queries.backtest(run.id)
  client.setQueryData(listKey, (known) =>
    known === undefined
      ? undefined
      : [run, ...known.filter(({ id }) => id !== run.id)].toSorted((one, other) =>
          one.created_at < other.created_at ? 1 : -1,
        ),
  )
  client.setQueryData(queryKey, (known) => (known === undefined ? undefined : { ...known, ...run }))
  if (run.status === 'queued' || run.status === 'running') return
  // The result must be fetched, and a running fetch may return an older state.
  for (const key of [listKey, queryKey])
    void client.invalidateQueries({ queryKey: key, exact: true }).catch(() => undefined)
}
