import { type Fault, FAULTS_MAX } from '../shared/faults.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { SANDBOX } from '../shared/sandbox.ts'
import { supportedVenue, VENUE_IDS } from '../shared/venues.ts'
import { isKnown } from './keys.ts'
import {
  asValues,
  baseValues,
  changedKeys,
  type Effective,
  effectiveConfiguration,
  effectiveValues,
  type Layers,
  NO_LAYER,
  setsKey,
} from './layers.ts'
import type { Configuration } from './schema.ts'
import { isRedactedSecret, isSecret } from './secrets.ts'
import { faultsOfKeys } from './validate.ts'
import { isJsonObject } from '../shared/json-object.ts'
import { type KeyPath, type Leaf, leavesOf, sameValue, valueAt, withoutValue, withValue } from './values.ts'

interface ChangeRequest {
  /** Body that a client sent, parsed as JSON but not validated. */
  readonly body: unknown
  readonly layers: Layers
  /** The configuration clients see now. */
  readonly running: Configuration
  /** Whether an empty `api.auth_token` is accepted. */
  readonly insecureOk: boolean
  /** Dotted keys with the only value that each may be set to. */
  readonly locked?: Readonly<Record<string, Json>>
  /** Rules for a change that comes over the network. */
  readonly remote?: RemoteRules
  /** The first words of `loc` in faults. */
  readonly prefix: readonly string[]
}

/** Limits of a change that comes from another machine. */
interface RemoteRules {
  /** Whether the caller may change this key. */
  readonly mayChange: (path: KeyPath) => boolean
  /** Whether this file is in the home folder. */
  readonly isInHome: (file: string) => boolean
}

export interface AcceptedChange {
  readonly status: 'accepted'
  readonly configuration: Configuration
  /** New content of `config/user.yaml`: values that differ from default and preset, and secrets. */
  readonly userValues: JsonObject
  /** False if the file already has this content. */
  readonly userValuesChanged: boolean
  /** Key paths, dotted. */
  readonly changed: readonly string[]
  readonly restartRequired: readonly string[]
  readonly overriddenByEnv: readonly string[]
}

export type SettingsChange =
  | AcceptedChange
  /** The body is not an object. */
  | { readonly status: 'malformed'; readonly faults: readonly Fault[] }
  | { readonly status: 'refused'; readonly faults: readonly Fault[] }
  /** The caller may not change these keys. */
  | { readonly status: 'forbidden'; readonly faults: readonly Fault[] }

/** Several times what a complete configuration has. */
const KEYS_MAX = 2000

/** Applies a client's body to the user settings and computes the consequences. Writes nothing. */
export const changeUserSettings = (request: ChangeRequest): SettingsChange => {
  const { body, layers, running, prefix } = request
  if (!isJsonObject(body)) {
    return { status: 'malformed', faults: [{ loc: prefix, msg: 'must be an object', type: 'object_type' }] }
  }
  const leaves = leavesOf(body)
  if (leaves.length > KEYS_MAX) {
    const msg = `must have at most ${KEYS_MAX} keys`
    return { status: 'refused', faults: [{ loc: prefix, msg, type: 'too_large' }] }
  }
  const requests = leaves.filter(({ path, value }) => !isRedactedSecret(path, value))
  const changedLayers = withRequests(layers, requests, asValues(running))
  const effective = effectiveConfiguration(changedLayers)
  // Include keys that only a preset would change, and keys that the environment overrides today.
  const news = requests.filter(({ path, value }) =>
    value === null
      ? valueAt(layers.user.values, path) !== undefined || !isKnown(path)
      : !repeats(valueAt(asValues(running), path), value),
  )
  const unchanged = effectiveConfiguration(layers)
  const touched = [
    ...news.map(({ path }) => path),
    ...(effective.status === 'valid' && unchanged.status === 'valid'
      ? changedKeys(unchanged.configuration, effective.configuration)
      : []),
  ]
  const notAllowed = notAllowedFaults(touched, request)
  if (notAllowed.length > 0) return { status: 'forbidden', faults: notAllowed }
  const remoteFaults = faultsOfRemote(news, request)
  if (remoteFaults.length > 0) return { status: 'refused', faults: remoteFaults }
  const asksForNoToken = requests.some(
    ({ path, value }) => path.join('.') === 'api.auth_token' && value === '',
  )
  const mayBeEmpty = request.insecureOk || (!asksForNoToken && running.api.auth_token === '')
  const faults = faultsIn(changedLayers, effective, { mayBeEmpty, asksForNoToken })
  if (effective.status === 'invalid' || faults.length > 0) {
    return {
      status: 'refused',
      faults: faults.map((fault) => ({ ...fault, loc: [...prefix, ...fault.loc] })),
    }
  }
  const userValues = neededValues(changedLayers)
  const changed = changedKeys(running, effective.configuration)
  const forbidden = lockedFaults(changed, asValues(effective.configuration), request)
  if (forbidden.length > 0) return { status: 'refused', faults: forbidden }
  const unknownVenue = venueFaults(changed, effective.configuration, request)
  if (unknownVenue.length > 0) return { status: 'refused', faults: unknownVenue }
  return {
    status: 'accepted',
    configuration: effective.configuration,
    userValues,
    userValuesChanged: !sameValue(userValues, neededValues(layers)),
    changed: changed.map(dotted),
    restartRequired: changed.filter(needsRestart).map(dotted),
    overriddenByEnv: overridden(requests, changedLayers).map(dotted),
  }
}

/**
 * Requested values that repeat the running configuration are not written, so that a client can send a shown
 * configuration back. Exception: a value that another request, such as a new preset, would change is written.
 */
const withRequests = (layers: Layers, requests: readonly Leaf[], running: JsonObject): Layers => {
  const news = requests.filter(({ path, value }) => !repeats(valueAt(running, path), value))
  const changed = withUserValues(layers, news.reduce(applyRequest, layers.user.values))
  const outcome = effectiveValues(changed)
  const lost = requests.filter(
    ({ path, value }) =>
      value !== null && !setsKey(layers.environment, path) && !repeats(valueAt(outcome, path), value),
  )
  return withUserValues(layers, lost.reduce(applyRequest, changed.user.values))
}

/** Whether a request repeats the present value. An empty object requests nothing from a group. */
const repeats = (present: Json | undefined, request: Json): boolean =>
  request !== null && (sameValue(present, request) || (isJsonObject(present) && sameValue(request, {})))

const applyRequest = (values: JsonObject, { path, value }: Leaf): JsonObject =>
  value === null && isKnown(path) ? withoutValue(values, path) : withValue(values, path, value)

const withUserValues = (layers: Layers, values: JsonObject): Layers => ({
  ...layers,
  user: { ...layers.user, values },
})

/** Includes faults that the environment overrides today: without its values the next start would fail. */
const faultsIn = (layers: Layers, effective: Effective, token: TokenRule): readonly Fault[] => {
  const hidden = faultsOfKeys(effectiveValues({ ...layers, environment: NO_LAYER }))
  const visible =
    effective.status === 'invalid' ? effective.faults : tokenFaults(effective.configuration, token)
  const all = [...visible, ...hidden].map(({ loc, msg, type }): Fault => ({ loc, msg, type }))
  return [...new Map(all.map((fault) => [JSON.stringify(fault), fault])).values()]
}

interface TokenRule {
  /** True if the operator allowed it, or if the token was empty before and the change does not set it to empty. */
  readonly mayBeEmpty: boolean
  /**
   * True if the change removes the token. Refused even if the environment sets one today: the next start may lack it.
   */
  readonly asksForNoToken: boolean
}

const tokenFaults = ({ api }: Configuration, { mayBeEmpty, asksForNoToken }: TokenRule): readonly Fault[] =>
  !mayBeEmpty && (asksForNoToken || api.auth_token === '')
    ? [
        {
          loc: ['api', 'auth_token'],
          msg: 'must not be empty (only SVC_INSECURE_OK allows that)',
          type: 'string_too_short',
        },
      ]
    : []

const notAllowedFaults = (
  touched: readonly KeyPath[],
  { remote, prefix }: Pick<ChangeRequest, 'remote' | 'prefix'>,
): readonly Fault[] => {
  const keys = new Map(touched.map((path) => [dotted(path), path]))
  return [...keys.values()]
    .filter((path) => remote !== undefined && !remote.mayChange(path))
    .slice(0, FAULTS_MAX)
    .map((path) => ({ loc: [...prefix, ...path], msg: 'needs the operator token', type: 'conflict' }))
}

const TOKEN_KEYS: ReadonlySet<string> = new Set(['api.auth_token', 'api.operator_token'])

/** Settings that name a file. */
const FILE_KEYS: ReadonlySet<string> = new Set(['market.file', 'store.checkpoint_file'])

/**
 * A remote caller must not set the first token, which would control the service, nor a path outside the home folder,
 * which may name any file that the service can reach.
 */
const faultsOfRemote = (
  news: readonly Leaf[],
  { running, remote, prefix }: Pick<ChangeRequest, 'running' | 'remote' | 'prefix'>,
): readonly Fault[] => {
  if (remote === undefined) return []
  return news.flatMap(({ path, value }): readonly Fault[] => {
    const key = dotted(path)
    if (typeof value !== 'string' || value === '') return []
    const fault = (msg: string): readonly Fault[] => [{ loc: [...prefix, ...path], msg, type: 'conflict' }]
    if (TOKEN_KEYS.has(key) && valueAt(asValues(running), path) === '')
      return fault(`is not set and cannot be set from afar: use "svc config set ${key} -"`)
    return FILE_KEYS.has(key) && !remote.isInHome(value) ? fault('must be inside the home folder') : []
  })
}

const lockedFaults = (
  changed: readonly KeyPath[],
  values: JsonObject,
  { locked = {}, prefix }: Pick<ChangeRequest, 'locked' | 'prefix'>,
): readonly Fault[] =>
  changed
    .filter((path) => {
      const only = locked[dotted(path)]
      return only !== undefined && !sameValue(valueAt(values, path), only)
    })
    .map((path) => ({
      loc: [...prefix, ...path],
      msg: lockMessage(dotted(path), locked[dotted(path)]),
      type: 'conflict',
    }))

/**
 * A venue without support for live orders is refused when it is set. A venue with open positions or orders, from a
 * file, may be set again.
 */
const venueFaults = (
  changed: readonly KeyPath[],
  { execution: { venue } }: Configuration,
  { locked = {}, prefix }: Pick<ChangeRequest, 'locked' | 'prefix'>,
): readonly Fault[] => {
  const isSet = changed.some((path) => dotted(path) === VENUE_KEY)
  if (!isSet || venue === '' || supportedVenue(venue) !== null || locked[VENUE_KEY] === venue) return []
  const msg = `must be one of ${VENUE_IDS.join(', ')}, each also with ${SANDBOX} behind its name, or empty`
  return [{ loc: [...prefix, 'execution', 'venue'], msg, type: 'enum' }]
}

const VENUE_KEY = 'execution.venue'

const lockMessage = (key: string, only: Json | undefined): string =>
  key === VENUE_KEY && typeof only === 'string'
    ? `must be ${only} while positions or orders are open there: nothing would be sent to them`
    : 'is locked by what happened so far and cannot be configured any more'

/**
 * Values that differ from default and preset, and secrets. The preset may be the user's own or one that the environment
 * chose for now: a value is dropped only if neither needs it.
 */
const neededValues = (layers: Layers): JsonObject => {
  const bases = [baseValues(layers), baseValues({ ...layers, environment: NO_LAYER })]
  const isNeeded = ({ path, value }: Leaf): boolean => {
    if (value === null || sameValue(value, {})) return false
    if (isSecret(path) && value !== '') return true
    return bases.some((base) => !sameValue(valueAt(base, path), value))
  }
  return leavesOf(layers.user.values)
    .filter((leaf) => isNeeded(leaf))
    .reduce((values, { path, value }) => withValue(values, path, value), {} as JsonObject)
}

/** Requested values that have no effect while the environment sets their key. */
const overridden = (requests: readonly Leaf[], layers: Layers): readonly KeyPath[] => {
  const outcome = effectiveValues(layers)
  return requests
    .filter(({ path }) => setsKey(layers.environment, path))
    .filter(({ path, value }) => !repeats(valueAt(outcome, path), value))
    .map(({ path }) => path)
}

const dotted = (path: KeyPath): string => path.join('.')

const RESTART_KEYS: ReadonlySet<string> = new Set([
  'api.host',
  'api.port',
  'store.url',
  'store.checkpoint_file',
  'store.checkpoint_webhook',
  'identity.node_prefix',
  'karma.influence.half_life',
  'execution.mode',
  'execution.venue',
  'execution.margin_mode',
  'execution.venue_url',
  'ta.bar_seconds',
  'ta.variance_decay',
])

/** Settings of `market` that take effect at once. All others belong to the feed, which is opened once. */
const LIVE_MARKET_KEYS: ReadonlySet<string> = new Set([
  'market.max_mark_age_seconds',
  'market.max_bar_move_pct',
  'market.trusted_price_sources',
])

/** Whether a new value of the key takes effect only after a restart. */
export const needsRestart = (path: KeyPath): boolean => {
  const key = path.join('.')
  if (path[0] === 'market') return !LIVE_MARKET_KEYS.has(key)
  return path[0] === 'dashboard' || RESTART_KEYS.has(key)
}
