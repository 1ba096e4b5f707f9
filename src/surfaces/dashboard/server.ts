import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerRequest } from './answer-request.ts'
import { refuse } from './answer.ts'
import { openApiLine } from './api.ts'
import { Attempts } from './attempts.ts'
import { DASHBOARD_LIMITS, type DashboardDependencies, type DashboardLimits } from './dependencies.ts'
import { loadPages } from './pages.ts'
import { createSealer } from './session.ts'

export interface DashboardServer {
  /** Resolves with where, once requests are taken. Port 0 takes any free one. */
  listen(address: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>
  /** Ends streams, waits a little for answers under way, and cuts what is left. */
  close(): Promise<void>
}

/** Null when the pages were not built. */
export const createDashboardServer = (
  house: DashboardDependencies,
  given: Partial<DashboardLimits> = {},
): DashboardServer | null => {
  const pages = loadPages(house.folder)
  if (pages === null) return null
  const limits = { ...DASHBOARD_LIMITS, ...given }
  const line = openApiLine(house.apiUrl)
  const attempts = new Attempts(limits.failedSignInsPerMinute)
  const streams = new Set<ServerResponse>()
  const sealer = createSealer(house.sessionSecret)
  const desk = { house, limits, pages, line, sealer, attempts, streams }
  const server = createServer(
    { headersTimeout: limits.headersTimeoutMs, requestTimeout: limits.requestTimeoutMs },
    (request, response) => {
      answerRequest(desk, request, response).catch((error: unknown) => {
        house.logger.error('the dashboard could not answer', { error })
        if (response.headersSent) response.destroy()
        else refuse(response, 'dashboard.api_unreachable', 'Something unexpected happened')
      })
    },
  )
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve({ url: urlOf(server.address() as AddressInfo) })
        })
      }),
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      for (const stream of streams) stream.destroy()
      const reap = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
      const force = setTimeout(() => server.closeAllConnections(), limits.closeTimeoutMs)
      await closed
      clearInterval(reap)
      clearTimeout(force)
      line.agent.destroy()
    },
  }
}

/** A connection that falls idle after the last answer would be kept open for the next request. */
const IDLE_CHECK_MS = 20

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
