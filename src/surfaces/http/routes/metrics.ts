import { z } from 'zod'
import { okText } from '../results.ts'
import { defineRoute } from '../route.ts'

export const metricsRoutes = [
  defineRoute({
    method: 'GET',
    path: '/metrics',
    atRoot: true,
    publicWhile: ({ metrics }) => metrics.public,
    operationId: 'getMetrics',
    tag: 'Service',
    summary: 'Metrics for Prometheus',
    description: 'Public while `metrics.public` is set.',
    response: z.string(),
    responseType: 'text/plain',
    example: '# TYPE svc_kill_switch_level gauge\nsvc_kill_switch_level 0\n',
    handler: async (_input, { metrics }) => okText(await metrics.text(), metrics.contentType),
  }),
]
