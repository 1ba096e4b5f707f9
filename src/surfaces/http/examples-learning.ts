import { EVENT_ID, TS } from './examples.ts'

const PREVIOUS = { curator: 0.25, onchain: 0.25, tradfi: 0.2, social: 0.15, technical: 0.1, events: 0.05 }
const LEARNED = {
  curator: 0.25825,
  onchain: 0.25325,
  tradfi: 0.19,
  social: 0.14825,
  technical: 0.10025,
  events: 0.05,
}

export const LEARNING_RUN = {
  id: EVENT_ID,
  at: TS,
  trigger: 'schedule',
  reason: 'adjusted',
  applied: true,
  step: 0.01,
  observations: 42,
  window_mean_return: 0.0041,
  correlations: { curator: 1, onchain: 0.5, tradfi: -1, social: 0, technical: 0.2, events: -1 },
  previous_weights: PREVIOUS,
  new_weights: LEARNED,
  deltas: {
    curator: 0.00825,
    onchain: 0.00325,
    tradfi: -0.01,
    social: -0.00175,
    technical: 0.00025,
    events: 0,
  },
  weights_version: 1,
} as const

export const WEIGHTS = {
  weights: LEARNED,
  origin: 'learned',
  version: 1,
  learned_at: TS,
  configured_weights: PREVIOUS,
  first_close_at: '2026-01-02T09:00:00.000Z',
  last_run_at: TS,
  next_run_at: '2026-02-26T00:00:00.000Z',
  history: [LEARNING_RUN],
} as const
