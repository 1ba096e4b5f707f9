import { BEFORE_ALL } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import type { PayloadOf } from '../../../core/events/catalogue.ts'
import { FEEDBACK_OUTCOMES } from '../../../core/events/brain.ts'
import { producerRegistration } from '../../../core/signals/producers.ts'
import { feedbackView, reportFeedback } from '../../../core/views/learning.ts'
import {
  producerStatusView,
  producerView,
  viewProducer,
  viewProducers,
  viewProducerStatus,
} from '../../../core/views/producers.ts'
import { plainText } from '../../../core/shared/text.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { isKnownProducer, matchedFeedback } from '../../../engine/queries/feedback.ts'
import { EVENT_ID, TS } from '../examples.ts'
import { ok, refused } from '../results.ts'
import { pathText } from '../fields.ts'
import { route, routes } from '../route.ts'

const PRODUCER = {
  id: 'p1',
  name: 'p1',
  domain: 'onchain',
  endpoint: 'https://example.com/x',
  schedule: '*/15 * * * *',
  registered_at: TS,
} as const

const PRODUCER_STATUS = {
  id: 'p1',
  name: 'p1',
  kind: 'registered',
  domain: 'onchain',
  schedule: '*/15 * * * *',
  endpoint: 'https://example.com/x',
  health: 'unknown',
  healthy: null,
  last_run_at: null,
  last_success_at: null,
  last_error: null,
  consecutive_failures: 0,
  events_produced: 0,
  avg_duration_ms: null,
  expected_interval_ms: 900_000,
  quarantined_until: null,
  quarantined_reason: null,
  updated_at: null,
  karma: 50,
  trust: 1,
  calls_resolved: 0,
  calls_hit: 0,
} as const

const producer = producerView.meta({ id: 'Producer' })

const feedback = z
  .object({
    signal_id: plainText().optional(),
    outcome: z.enum(FEEDBACK_OUTCOMES).optional(),
    correct: z.boolean().optional().meta({ description: 'profit or loss, if no outcome is given' }),
    pnl: z.number().optional(),
    note: z.string().max(2000).optional(),
    window_hours: z.int().min(1).max(720).default(24).meta({ description: 'the period of the report' }),
  })
  .meta({ examples: [{ signal_id: '019c7874-0f70-7c3e-9a51-2f6f0c1b7a10', outcome: 'profit', pnl: 12.5 }] })

type FeedbackBody = z.output<typeof feedback>

const NO_FEEDBACK: FeedbackBody = feedback.parse({})

export const producerRoutes = routes('Producers', {
  listProducers: route('GET', '/producers', 'read', {
    summary: 'Registered producers, by name',
    response: z.object({ producers: z.array(producer) }),
    example: { producers: [PRODUCER] },
    handler: async (_input, { engine }) =>
      ok({ producers: viewProducers((await engine.fresh()).signals.producers) }),
  }),
  getProducerStatus: route('GET', '/producers/status', 'read', {
    summary: 'Health of all producers, by name',
    response: z.object({
      producers: z.record(z.string(), producerStatusView.meta({ id: 'ProducerStatus' })),
    }),
    example: { producers: { p1: PRODUCER_STATUS } },
    handler: async (_input, { engine, clock, configuration }) => {
      const rules = configuration.current().karma
      return ok({ producers: viewProducerStatus(await engine.fresh(), { now: isoNow(clock), rules }) })
    },
  }),
  registerProducer: route('POST', '/producers/register', 'submit', {
    summary: 'Register a producer',
    description: 'The endpoint is not contacted now.',
    body: producerRegistration.meta({
      examples: [{ name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' }],
    }),
    response: producer,
    example: PRODUCER,
    problems: ['producer.duplicate'],
    handler: ({ body, execute }) =>
      execute({ kind: 'register-producer', producer: body, surface: 'api' }, ([event]) =>
        viewProducer({ ...body, registeredAt: event?.ts ?? BEFORE_ALL }),
      ),
  }),
  removeProducer: route('DELETE', '/producers/:name', 'submit', {
    summary: 'Deregister a producer',
    description: 'Its signals stay, access keys that are bound to it end.',
    params: z.object({ name: pathText('the name of the producer', 'p1') }),
    response: z.object({ removed: z.string() }),
    example: { removed: 'p1' },
    problems: ['producer.not_found'],
    handler: ({ params: { name }, execute }) =>
      execute({ kind: 'remove-producer', name, surface: 'api' }, () => ({ removed: name })),
  }),
  giveFeedback: route('POST', '/producers/:id/feedback', 'emit', {
    summary: 'Report the outcome of a signal, and get a report on its producer',
    description:
      'A body without feedback only returns the report. Feedback counts as weak evidence where the market gave none, and ' +
      'never changes money. An access key that speaks for one author gives none, and gets the report on itself.',
    params: z.object({ id: pathText('the name of the producer, or a source of signals', 'p1') }),
    body: feedback.optional(),
    response: feedbackView.meta({ id: 'ProducerFeedback' }),
    example: {
      producer_id: 'p1',
      window_hours: 24,
      signals_evaluated: 1,
      hit_rate: 0,
      top_miss: [{ signal_id: EVENT_ID, signal_type: 'signal.onchain.v1', score: 4.5, outcome: 'loss' }],
      accepted: true,
      event_id: '019c7877-0b1f-7e22-9d3c-5a6b7c8d9e0f',
      matched: true,
    },
    problems: ['producer.not_found'],
    // A verdict on a producer is never given in its own name: a bound key would judge itself.
    author: ({ params: { id }, body = NO_FEEDBACK }) =>
      hasFeedback(body) ? undefined : { kind: 'producer', id },
    handler: async ({ params: { id }, body = NO_FEEDBACK, execute }, { engine, clock }) => {
      if (!(await isKnownProducer(engine.log, await engine.fresh(), id))) {
        return refused('producer.not_found', 'No such producer', { extras: { name: id } })
      }
      const report = () => ({
        producer_id: id,
        window_hours: body.window_hours,
        ...reportFeedback(engine.state.reputation.feedback.get(id) ?? [], isoNow(clock), body.window_hours),
      })
      if (!hasFeedback(body)) {
        return ok({ ...report(), accepted: false, event_id: null, matched: false }, { unchanged: true })
      }
      const recorded = await matchedFeedback(engine.log, id, feedbackIn(body), 'api')
      return execute({ kind: 'record-feedback', ...recorded }, ([event]) => ({
        ...report(),
        accepted: true,
        event_id: event?.id ?? null,
        matched: recorded.feedback.matched,
      }))
    },
  }),
})

const hasFeedback = ({ signal_id, outcome, correct, pnl, note }: FeedbackBody): boolean =>
  [signal_id, outcome, correct, pnl, note].some((member) => member !== undefined)

const feedbackIn = ({ signal_id, outcome, correct, pnl, note }: FeedbackBody) => ({
  signalId: signal_id ?? null,
  outcome: outcome ?? outcomeOf(correct),
  pnl: pnl ?? null,
  note: note ?? null,
})

const outcomeOf = (correct: boolean | undefined): PayloadOf<'learning.feedback.v1'>['outcome'] =>
  correct === undefined ? null : correct ? 'profit' : 'loss'
