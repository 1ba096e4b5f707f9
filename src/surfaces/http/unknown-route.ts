import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { preflight } from './cors.ts'
import { problem, type Problem } from './problems.ts'
import { pathOf } from './request-line.ts'
import type { Service } from './service.ts'
import { NOTHING_THERE } from './errors.ts'

export type UnknownRoute =
  | { readonly status: 'refused'; readonly problem: Problem }
  | { readonly status: 'preflight'; readonly headers: Readonly<Record<string, string>> }

/** No route has this path and method: is it the path, the method, or a browser that asks beforehand? */
export const unknownRoute = (
  app: FastifyInstance,
  service: Service,
  request: FastifyRequest,
): UnknownRoute => {
  const path = pathOf(request.url)
  const allowed = methodsAt(app, path)
  if (allowed.length === 0) return { status: 'refused', problem: NOTHING_THERE }
  const asked = preflight(service.configuration.current().api.cors_origins, {
    method: request.method,
    origin: request.headers.origin,
    wantedMethod: request.headers['access-control-request-method'],
  })
  switch (asked.status) {
    case 'allowed':
      return { status: 'preflight', headers: asked.headers }
    case 'denied':
      return { status: 'refused', problem: asked.problem }
    case 'none':
      return { status: 'refused', problem: methodNotAllowed(allowed) }
  }
}

/** What can be asked of a path. */
export const methodsAt = (app: FastifyInstance, path: string): readonly string[] =>
  METHODS.filter((method) => {
    const found = app.findRoute({ method, url: path })
    if (found === null || method !== 'HEAD') return found !== null
    // Where GET has a path of its own without HEAD, a wider pattern that fits as well does not count.
    const get = app.findRoute({ method: 'GET', url: path })
    return get !== null && isDeepStrictEqual(Object.keys(get.params), Object.keys(found.params))
  })

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const

const methodNotAllowed = (allowed: readonly string[]): Problem => {
  const list = allowed.join(', ')
  return problem('route.method_not_allowed', `This path answers ${list}`, { headers: { allow: list } })
}
