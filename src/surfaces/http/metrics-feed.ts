import { Gauge, type Registry } from 'prom-client'
import type { HttpDependencies } from './dependencies.ts'

/** The feed that this process drives; without one these say nothing. */
export const registerFeed = (
  registry: Registry,
  { feedStatus, clock }: Pick<HttpDependencies, 'feedStatus' | 'clock'>,
): void => {
  registry.registerMetric(
    new Gauge({
      name: 'svc_feed_up',
      help: '1 while prices come, 0 when the feed has trouble, ended or stopped',
      labelNames: ['feed'],
      registers: [],
      collect() {
        this.reset()
        const status = feedStatus()
        if (status !== null) this.set({ feed: status.feed }, status.state === 'running' ? 1 : 0)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'svc_feed_last_bar_age_seconds',
      help: 'Age of the newest bar',
      labelNames: ['feed'],
      registers: [],
      collect() {
        this.reset()
        const status = feedStatus()
        if (status === null || status.lastBarAtMs === null) return
        this.set({ feed: status.feed }, (clock.now() - status.lastBarAtMs) / 1000)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'svc_feed_clock_offset_seconds',
      help: 'Clock of the venue minus ours, where it is measured',
      labelNames: ['feed'],
      registers: [],
      collect() {
        this.reset()
        const status = feedStatus()
        if (status === null || status.clockOffsetMs === null) return
        this.set({ feed: status.feed }, status.clockOffsetMs / 1000)
      },
    }),
  )
}
