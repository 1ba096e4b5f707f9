import { createRootRoute, createRoute, createRouter, Link } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { Empty, Loading } from '../ui/states.tsx'
import { lazyPage } from './lazy-page.ts'
import { PageFailure } from './page-failure.tsx'
import { Shell } from './shell.tsx'

const root = createRootRoute({ component: Shell })

const page = <Path extends string>(path: Path, load: () => Promise<{ readonly Page: ComponentType }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyPage(load) })

const routeTree = root.addChildren([
  page('/', () => import('../pages/overview/page.tsx')),
  page('/audit', () => import('../pages/audit/page.tsx')),
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
    <Empty title="There is no such page">
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
