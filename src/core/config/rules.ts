import { isSandbox } from '../shared/sandbox.ts'
import type { FaultType } from '../shared/fault-types.ts'
import type { Configuration } from './schema.ts'

/** A rule over several keys. It is asked only when all keys it reads are valid by themselves. */
export interface Rule {
  readonly reads: readonly string[]
  /** Where the fault is shown. */
  readonly at: string
  readonly type: FaultType
  /** What is wrong, or null. */
  readonly check: (configuration: Configuration) => string | null
}

const DOMAINS_COUNT = 6

export const RULES: readonly Rule[] = [
  {
    reads: ['weights'],
    at: 'weights',
    type: 'conflict',
    check: ({ weights }) => {
      const sum = Object.values(weights).reduce((total, weight) => total + weight, 0)
      return isOver(Math.abs(sum - 1), 0.001) ? `must add up to 1, not ${rounded(sum)}` : null
    },
  },
  {
    reads: ['api.auth_token', 'api.operator_token'],
    at: 'api.operator_token',
    type: 'conflict',
    check: ({ api }) =>
      api.operator_token !== '' && api.operator_token === api.auth_token
        ? 'must differ from api.auth_token'
        : null,
  },
  {
    reads: ['universe'],
    at: 'universe.symbols',
    type: 'too_large',
    check: ({ universe }) =>
      universe.symbols.length > universe.max_size
        ? `must have at most ${universe.max_size} items (universe.max_size)`
        : null,
  },
  {
    reads: ['learning.floor'],
    at: 'learning.floor',
    type: 'conflict',
    check: ({ learning }) =>
      isOver(DOMAINS_COUNT * learning.floor, 1) ? 'must leave room: six floors exceed 1' : null,
  },
  {
    reads: ['learning.ceiling'],
    at: 'learning.ceiling',
    type: 'conflict',
    check: ({ learning }) =>
      isOver(1, DOMAINS_COUNT * learning.ceiling) ? 'must leave room: six ceilings do not reach 1' : null,
  },
  {
    reads: ['learning.cold_days', 'learning.warm_days'],
    at: 'learning.warm_days',
    type: 'conflict',
    check: ({ learning }) =>
      learning.warm_days < learning.cold_days ? 'must be at least learning.cold_days' : null,
  },
  {
    reads: ['risk', 'kill_switch', 'execution'],
    at: 'risk.max_position_pct',
    type: 'conflict',
    check: (configuration) => {
      const heat = configuration.risk.max_position_pct * lossAtStopPerUsd(configuration)
      const room = heatRoom(configuration)
      return isOver(heat, room)
        ? `must fit the heat room: such a position risks ${rounded(heat)} of equity, entries may risk ${rounded(room)}`
        : null
    },
  },
  {
    reads: ['settlement.band_min', 'execution'],
    at: 'settlement.band_min',
    type: 'conflict',
    check: ({ settlement, execution }) => {
      const roundTrip = (2 * (execution.paper_slippage_bps + execution.paper_fee_bps)) / 10_000
      return isOver(roundTrip, settlement.band_min)
        ? `must be at least ${rounded(roundTrip)}, one round trip of slippage and fee`
        : null
    },
  },
  {
    reads: ['brain.tiers'],
    at: 'brain.tiers',
    type: 'conflict',
    check: ({ brain: { tiers } }) =>
      tiers[0] < tiers[1] && tiers[1] < tiers[2] ? null : 'must rise from left to right',
  },
  {
    reads: ['brain.cts'],
    at: 'brain.cts.damping_points',
    type: 'conflict',
    check: ({ brain: { cts } }) =>
      cts.damping_points < cts.max_points
        ? 'must be at least brain.cts.max_points, or doubt would turn a conviction around'
        : null,
  },
  ...(['rsi', 'funding', 'basis'] as const).map((signal): Rule => ({
    reads: [`brain.cts.${signal}`],
    at: `brain.cts.${signal}.to`,
    type: 'conflict',
    check: ({ brain: { cts } }) =>
      cts[signal].to > cts[signal].from ? null : `must be greater than brain.cts.${signal}.from`,
  })),
  {
    reads: ['execution.venue', 'execution.venue_url'],
    at: 'execution.venue_url',
    type: 'conflict',
    // What was confirmed for a simulator must never count for real money.
    check: ({ execution: { venue, venue_url: url } }) =>
      url !== '' && !isSandbox(venue) ? 'needs a venue whose name ends in -sandbox' : null,
  },
  {
    reads: ['market.feed', 'market.file'],
    at: 'market.file',
    type: 'missing',
    check: ({ market }) =>
      market.feed === 'file' && market.file === '' ? 'must name a file when market.feed is file' : null,
  },
  {
    reads: ['market.feed', 'market.exchange'],
    at: 'market.exchange',
    type: 'missing',
    check: ({ market }) =>
      market.feed === 'ccxt' && market.exchange === ''
        ? 'must name an exchange when market.feed is ccxt'
        : null,
  },
]

/** What one USD of a short loses at its stop; a long loses a little less. */
const lossAtStopPerUsd = ({ execution }: Configuration): number => {
  const exit = (1 + execution.stop_loss_pct) * (1 + execution.paper_slippage_bps / 10_000)
  return exit - 1 + exit * (execution.paper_fee_bps / 10_000)
}

const heatRoom = ({ risk, kill_switch }: Configuration): number =>
  risk.heat_open_fraction * Math.min(risk.max_portfolio_heat_pct, kill_switch.l2_portfolio_heat_pct)

/** Decimal fractions are not exact in binary: 2·(5 + 6) bps equals 0.0022 although the bits differ. */
const isOver = (value: number, bound: number): boolean => value - bound > 1e-9

const rounded = (value: number): number => Number(value.toFixed(6))
