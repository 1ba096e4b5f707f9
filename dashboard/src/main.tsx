import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client.ts'
import { loadAllPages, router } from './app/router.tsx'
import { Live, LiveContext } from './live/live.ts'

const RETRIES_MAX = 2
const RETRY_AFTER_MS = 10_000
const START_WAIT_MS = 1500

const onError = (error: unknown): void => {
  if (error instanceof ApiError && error.status === 401) live.checkSession()
}

/** A refused request is refused again, unless there were only too many of them. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof ApiError && error.status < 500 && error.status !== 429)

// Nothing is kept for later: the service may be on this machine, where no network is needed, and a press that could
// not be sent must not act hours later.
const networkMode = 'always'

const client = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    mutations: { networkMode },
    queries: {
      networkMode,
      // Events tell when something is stale; refetching on focus adds nothing.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => isPassing(error) && failures < RETRIES_MAX,
      // Without the stream its return refreshes everything.
      refetchInterval: ({ state: { error } }) =>
        error !== null && isPassing(error) && live.status() === 'live' ? RETRY_AFTER_MS : false,
    },
  },
})
const live = new Live(client)
// Not for long: the page has to show up when the service is down, too.
await Promise.race([live.start(), new Promise((resolve) => setTimeout(resolve, START_WAIT_MS))])

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element with id "app"')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <LiveContext value={live}>
        <RouterProvider router={router} />
      </LiveContext>
    </QueryClientProvider>
  </StrictMode>,
)

// The first page is up by then.
const PRELOAD_AFTER_MS = 2000
setTimeout(() => void loadAllPages(), PRELOAD_AFTER_MS)
