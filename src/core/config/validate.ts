import { type Fault, FAULTS_MAX, faultsOf, type FaultType } from '../shared/faults.ts'
import type { JsonObject } from '../shared/json.ts'
import { hintFor } from './keys.ts'
import { type Configuration, configurationSchema } from './schema.ts'
import { isJsonObject } from '../shared/json-object.ts'
import { type KeyPath, valueAt, withoutValue } from './values.ts'
import { isSandbox } from '../shared/sandbox.ts'
import { acceptanceWindowMs, supportedVenue } from '../shared/venues.ts'

type Validation =
  | { readonly status: 'valid'; readonly configuration: Configuration }
  | { readonly status: 'invalid'; readonly faults: readonly Fault[] }

/** Compiling checks into code does not pay: a command reads the settings once. */
const ONCE = { jitless: true }

/** The built-in defaults, complete. */
export const DEFAULT_CONFIGURATION: Configuration = frozen(configurationSchema.parse({}, ONCE))

/** All faults of complete values: those of single keys, and those of keys that conflict. `loc` has no prefix. */
export const validateValues = (values: JsonObject): Validation => {
  const parsed = configurationSchema.safeParse(values, ONCE)
  if (parsed.success) {
    const faults = faultsOfRules(parsed.data, [])
    return faults.length === 0
      ? { status: 'valid', configuration: frozen(parsed.data) }
      : { status: 'invalid', faults }
  }
  const faults = faultsOfKeys(values)
  if (faults.length >= FAULTS_MAX) return { status: 'invalid', faults }
  const rest = configurationSchema.safeParse(withoutFaulty(values, faults), ONCE)
  return {
    status: 'invalid',
    faults: rest.success ? [...faults, ...faultsOfRules(rest.data, faults)] : faults,
  }
}

/** Faults of single keys only, which stronger layers cannot repair. */
export const faultsOfKeys = (values: JsonObject): readonly Fault[] => {
  const parsed = configurationSchema.safeParse(values, ONCE)
  return parsed.success ? [] : faultsOf(parsed.error, [], { input: values, hintFor })
}

const faultsOfRules = (configuration: Configuration, known: readonly Fault[]): readonly Fault[] =>
  RULES.filter((rule) => known.every((fault) => !concerns(rule, fault))).flatMap((rule) => {
    const msg = rule.check(configuration)
    return msg === null ? [] : [{ loc: rule.at.split('.'), msg, type: rule.type }]
  })

const concerns = ({ reads }: Rule, { loc }: Fault): boolean =>
  reads.some((key) => {
    const path = key.split('.')
    return path.slice(0, loc.length).every((name, index) => name === loc[index])
  })

/** Replaces faulty values by defaults, so that the rules can check the rest. */
const withoutFaulty = (values: JsonObject, faults: readonly Fault[]): JsonObject =>
  faults.reduce((rest, { loc }) => withoutValue(rest, objectPath(values, loc)), values)

/** A fault inside a list concerns the list. */
const objectPath = (values: JsonObject, loc: KeyPath): KeyPath =>
  loc.filter((_, index) => isJsonObject(valueAt(values, loc.slice(0, index))))

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

/** A rule over several keys. It is checked only if all keys that it reads are valid by themselves. */
interface Rule {
  readonly reads: readonly string[]
  /** Key at which the fault is reported. */
  readonly at: string
  readonly type: FaultType
  /** Returns the fault, or null. */
  readonly check: (configuration: Configuration) => string | null
}

const conflict = (reads: readonly string[], at: string, check: Rule['check']): Rule => ({
  reads,
  at,
  type: 'conflict',
  check,
})

const DOMAINS_COUNT = 6

const RULES: readonly Rule[] = [
  conflict(['weights'], 'weights', ({ weights }) => {
    const sum = Object.values(weights).reduce((total, weight) => total + weight, 0)
    return isOver(Math.abs(sum - 1), 0.001) ? `must add up to 1, not ${rounded(sum)}` : null
  }),
  conflict(['api.auth_token', 'api.operator_token'], 'api.operator_token', ({ api }) =>
    api.operator_token !== '' && api.operator_token === api.auth_token
      ? 'must differ from api.auth_token'
      : null,
  ),
  {
    reads: ['universe'],
    at: 'universe.symbols',
    type: 'too_large',
    check: ({ universe: { symbols, max_size: max } }) =>
      symbols.length > max ? `must have at most ${max} items (universe.max_size)` : null,
  },
  conflict(['learning.floor'], 'learning.floor', ({ learning }) =>
    isOver(DOMAINS_COUNT * learning.floor, 1) ? 'must leave room: six floors exceed 1' : null,
  ),
  conflict(['learning.ceiling'], 'learning.ceiling', ({ learning }) =>
    isOver(1, DOMAINS_COUNT * learning.ceiling) ? 'must leave room: six ceilings do not reach 1' : null,
  ),
  conflict(['learning.cold_days', 'learning.warm_days'], 'learning.warm_days', ({ learning }) =>
    learning.warm_days < learning.cold_days ? 'must be at least learning.cold_days' : null,
  ),
  conflict(['risk', 'kill_switch', 'execution'], 'risk.max_position_pct', (configuration) => {
    const heat = configuration.risk.max_position_pct * lossAtStopPerUsd(configuration)
    const left = heatLeft(configuration)
    return isOver(heat, left)
      ? `must fit the heat room: such a position risks ${rounded(heat)} of equity, entries may risk ${rounded(left)}`
      : null
  }),
  conflict(['settlement.band_min', 'execution'], 'settlement.band_min', ({ settlement, execution }) => {
    const roundTrip = (2 * (execution.paper_slippage_bps + execution.paper_fee_bps)) / 10_000
    return isOver(roundTrip, settlement.band_min)
      ? `must be at least ${rounded(roundTrip)}, one round trip of slippage and fee`
      : null
  }),
  conflict(['brain.tiers'], 'brain.tiers', ({ brain: { tiers } }) =>
    tiers[0] < tiers[1] && tiers[1] < tiers[2] ? null : 'must rise from left to right',
  ),
  conflict(['brain.cts'], 'brain.cts.damping_points', ({ brain: { cts } }) =>
    cts.damping_points < cts.max_points
      ? 'must be at least brain.cts.max_points, or doubt would turn a conviction around'
      : null,
  ),
  ...(['rsi', 'funding', 'basis'] as const).map((signal) =>
    conflict([`brain.cts.${signal}`], `brain.cts.${signal}.to`, ({ brain: { cts } }) =>
      cts[signal].to > cts[signal].from ? null : `must be greater than brain.cts.${signal}.from`,
    ),
  ),
  // Lookups must last until an order that was not found cannot arrive any more, neither from a running attempt nor
  // late.
  conflict(
    ['execution.lookups', 'execution.send_timeout_seconds', 'execution.venue'],
    'execution.lookups.seconds',
    ({ execution: { lookups, send_timeout_seconds, venue } }) => {
      const acceptanceSeconds = acceptanceWindowMs(venue) / 1000
      const openFor = send_timeout_seconds + acceptanceSeconds
      return lookups.seconds > openFor
        ? null
        : `must be more than ${openFor}: for execution.send_timeout_seconds plus the ${acceptanceSeconds} s in which ` +
            'the venue accepts an order, one that it did not have may still arrive'
    },
  ),
  // A confirmation that was given for a simulator must never apply to real money.
  conflict(['execution.venue', 'execution.venue_url'], 'execution.venue_url', ({ execution }) =>
    execution.venue_url !== '' && !isSandbox(execution.venue)
      ? 'needs a venue whose name ends in -sandbox'
      : null,
  ),
  conflict(['execution.venue', 'execution.margin_mode'], 'execution.margin_mode', ({ execution }) => {
    const venue = supportedVenue(execution.venue)
    return venue === null || venue.marginModes.includes(execution.margin_mode)
      ? null
      : `must be ${venue.marginModes.join(' or ')} at ${venue.id}`
  }),
  ...(
    [
      ['file', 'file', 'a file'],
      ['ccxt', 'exchange', 'an exchange'],
    ] as const
  ).map(([feed, key, what]): Rule => ({
    reads: ['market.feed', `market.${key}`],
    at: `market.${key}`,
    type: 'missing',
    check: ({ market }) =>
      market.feed === feed && market[key] === '' ? `must name ${what} when market.feed is ${feed}` : null,
  })),
]

/** Loss of one USD of a short at its stop. A long loses a little less. */
const lossAtStopPerUsd = ({ execution }: Configuration): number => {
  const exit = (1 + execution.stop_loss_pct) * (1 + execution.paper_slippage_bps / 10_000)
  return exit - 1 + exit * (execution.paper_fee_bps / 10_000)
}

const heatLeft = ({ risk, kill_switch }: Configuration): number =>
  risk.heat_open_fraction * Math.min(risk.max_portfolio_heat_pct, kill_switch.l2_portfolio_heat_pct)

/** Decimal fractions are not exact in binary: 2·(5 + 6) bps equals 0.0022 although the bits differ. */
const isOver = (value: number, bound: number): boolean => value - bound > 1e-9

const rounded = (value: number): number => Number(value.toFixed(6))

const TOKEN_LENGTH_RECOMMENDED = 32

/** Warnings about values that are allowed but unwise. */
export const warningsOf = ({ api }: Configuration): readonly string[] =>
  [['api.auth_token', api.auth_token] as const, ['api.operator_token', api.operator_token] as const].flatMap(
    ([key, token]) =>
      token !== '' && token.length < TOKEN_LENGTH_RECOMMENDED
        ? [`${key} is shorter than ${TOKEN_LENGTH_RECOMMENDED} characters`]
        : [],
  )
