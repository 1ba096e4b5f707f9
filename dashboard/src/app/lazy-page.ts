import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { Unreachable } from '../api/client.ts'

type LoadPage = () => Promise<{ readonly Page: ComponentType }>

const known: LoadPage[] = []

/** A page is a module with a component `Page`, loaded when somebody goes there, or before. */
export const lazyPage = (load: LoadPage) => {
  known.push(load)
  return lazyRouteComponent(() => load().catch(explain), 'Page')
}

/** In a quiet moment all of them: then one can look around while the service is down. */
export const loadAllPages = async (): Promise<void> => {
  for (const load of known) await load().catch(() => undefined)
}

const RELOADED_AT = 'reloaded-at'
const RELOAD_PAUSE_MS = 60_000

/** The service is down, or it is a newer one whose pages have other names: then the whole app is loaded again. */
const explain = async (error: unknown): Promise<never> => {
  const isServed = await fetch('/healthz').then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isServed) throw new Unreachable('The service does not answer')
  const isNew = Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) > RELOAD_PAUSE_MS
  if (!isNew) throw error
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  location.reload()
  // Nothing is shown meanwhile.
  return new Promise(() => undefined)
}
