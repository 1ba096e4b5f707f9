import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client.ts'
import { loadAllPages, router } from './app/router.tsx'
import { Live } from './live/live.ts'
import { LiveContext } from './live/use-live.ts'

const RETRIES_MAX = 2
const START_WAIT_MS = 1500

const onError = (error: unknown): void => {
  if (error instanceof ApiError && error.status === 401) live.doubtSession()
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      // Events say when something is old; asking again on focus would only be noise.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      // What the service refuses, it refuses again.
      retry: (failures, error) =>
        !(error instanceof ApiError && error.status < 500) && failures < RETRIES_MAX,
    },
  },
})
const live = new Live(client)
// Not for long: a service that is down must not keep the page from saying so.
await Promise.race([live.start(), new Promise((resolve) => setTimeout(resolve, START_WAIT_MS))])

const place = document.getElementById('app')
if (place === null) throw new Error('the page has no place for the app')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <LiveContext value={live}>
        <RouterProvider router={router} />
      </LiveContext>
    </QueryClientProvider>
  </StrictMode>,
)

const QUIET_MS = 2000
setTimeout(() => void loadAllPages(), QUIET_MS)
