import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  useRouter,
} from '@tanstack/react-router'
import { type ComponentType, useEffect } from 'react'
import { UnreachableError } from '../api/client.ts'
import { useConnectionStatus } from '../live/live.ts'
import { Empty, Failure, Loading } from '../ui/states.tsx'
import { Shell } from './shell.tsx'

type LoadPage = () => Promise<{ readonly Page: ComponentType }>

const pages: LoadPage[] = []

/** A page is a module with a component `Page`, loaded on demand or ahead of time. */
const lazyPage = (load: LoadPage) => {
  pages.push(load)
  return lazyRouteComponent(() => load().catch(onLoadError), 'Page')
}

/** Preloads all pages, so that they open while the service is down. */
export const loadAllPages = async (): Promise<void> => {
  for (const load of pages) await load().catch(() => undefined)
}

const RELOADED_AT = 'reloaded-at'
const RELOAD_PAUSE_MS = 60_000

/** The service is down, or it was updated and its pages have other names: then the app is reloaded. */
const onLoadError = async (error: unknown): Promise<never> => {
  const isServed = await fetch('/healthz').then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isServed) throw new UnreachableError()
  const isNew = Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) > RELOAD_PAUSE_MS
  if (!isNew) throw error
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  location.reload()
  // Nothing is shown until the reload.
  return new Promise(() => undefined)
}

const root = createRootRoute({ component: Shell })

const page = <Path extends string>(path: Path, load: () => Promise<{ readonly Page: ComponentType }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyPage(load) })

const routeTree = root.addChildren([
  page('/', () => import('../pages/overview/page.tsx')),
  page('/alerts', () => import('../pages/alerts/page.tsx')),
  page('/audit', () => import('../pages/audit/page.tsx')),
  page('/authors', () => import('../pages/authors/page.tsx')),
  page('/backtests', () => import('../pages/backtests/page.tsx')),
  page('/brain', () => import('../pages/brain/page.tsx')),
  page('/contributors', () => import('../pages/contributors/page.tsx')),
  page('/positions', () => import('../pages/positions/page.tsx')),
  page('/producers', () => import('../pages/producers/page.tsx')),
  page('/risk', () => import('../pages/risk/page.tsx')),
  page('/settings', () => import('../pages/settings/page.tsx')),
  page('/signals', () => import('../pages/signals/page.tsx')),
  page('/treasury', () => import('../pages/treasury/page.tsx')),
])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  // Addresses stay readable: ?domain=ta and not ?domain=%22ta%22.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
    return query === '' ? '' : `?${query}`
  },
  defaultPendingComponent: () => <Loading what="the page" />,
  defaultErrorComponent: ({ error }) => <PageFailure error={error} />,
  defaultNotFoundComponent: () => (
    <Empty title="Page not found">
      <Link to="/" className="text-accent underline">
        Go to the overview
      </Link>
    </Empty>
  ),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** Shown for a page that could not be loaded or drawn. Retries when the service is back. */
const PageFailure = ({ error }: { readonly error: unknown }) => {
  const { invalidate } = useRouter()
  const isLive = useConnectionStatus() === 'live'
  const retry = (): void => void invalidate()
  useEffect(() => {
    if (isLive && error instanceof UnreachableError) void invalidate()
  }, [isLive, error, invalidate])
  return <Failure error={error} onRetry={retry} />
}
