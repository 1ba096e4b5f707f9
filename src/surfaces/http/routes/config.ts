import { z } from 'zod'
import { needsRestart } from '../../../core/config/change.ts'
import { asValues } from '../../../core/config/layers.ts'
import {
  configurationJsonSchema,
  configurationSchema,
  type Configuration,
} from '../../../core/config/schema.ts'
import { configurationRecord } from '../../../core/config/recorded.ts'
import { redactedConfiguration } from '../../../core/config/secrets.ts'
import { DEFAULT_CONFIGURATION } from '../../../core/config/validate.ts'
import { leavesOf, valueAt } from '../../../core/config/values.ts'
import { lockedVenue } from '../../../core/trading/venue/unrouted.ts'
import { lockedSettings } from '../../../core/treasury/wallet.ts'
import { isJsonObject } from '../../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import type { ChangeOptions, ConfigurationRefusal } from '../../../ports/config-file.ts'
import { mayChange, nameOf } from '../../caller.ts'
import { ok, refused, refusedWith, type Refused } from '../results.ts'
import { invalidProblem } from '../problems.ts'
import { route, routes, type Service } from '../route.ts'

const configuration = configurationSchema.meta({ id: 'Configuration' })

// Checked by the configuration itself.
const changes = z.unknown().meta({
  type: 'object',
  additionalProperties: true,
  description: 'keys to change: missing = unchanged, null = back to the default, lists are replaced',
  examples: [{ brain: { cycle_interval_seconds: 60 } }],
})

const configurationForm = z.object({
  schema: z.custom<JsonObject>(isJsonObject).meta({ type: 'object', additionalProperties: true }),
  path: z.string().meta({ description: 'the file that a change is written to, in the home folder' }),
  restart_keys: z.array(z.string()).meta({ description: 'a new value takes effect after a restart' }),
  waiting_for_restart: z
    .array(z.string())
    .meta({ description: 'changed since the start; takes effect after a restart' }),
  running: z
    .record(z.string(), z.unknown())
    .meta({ description: 'value in force of each key in `waiting_for_restart`, secrets redacted' }),
  set_by_environment: z.array(z.string()),
})

export const configRoutes = routes('Configuration', {
  getConfiguration: route('GET', '/config', 'read', {
    summary: 'The effective configuration',
    description:
      'Secrets that are set read `***REDACTED***`. Settings in `waiting_for_restart` of `GET /config/schema` differ between ' +
      '`values=configured` and `values=running`.',
    query: z.object({
      values: z
        .enum(['configured', 'running'])
        .default('configured')
        .meta({ description: 'running: settings that wait for a restart read as they were at the start' }),
    }),
    response: configuration,
    example: DEFAULT_CONFIGURATION,
    handler: ({ query }, { configuration: store }) =>
      ok(redactedConfiguration(query.values === 'running' ? store.running() : store.current())),
  }),
  getConfigurationSchema: route('GET', '/config/schema', 'read', {
    summary: 'Schema of the configuration',
    description:
      '`schema` is JSON Schema. The value of a key in `set_by_environment` cannot be changed here.',
    response: configurationForm,
    example: {
      schema: { type: 'object', properties: {} },
      path: 'config/user.yaml',
      restart_keys: ['api.port'],
      waiting_for_restart: ['api.port'],
      running: { 'api.port': 5050 },
      set_by_environment: ['api.auth_token'],
    },
    handler: (_input, service) => {
      const { setByEnvironment, waitingForRestart } = service.configuration.describe()
      return ok({
        schema: (jsonSchema ??= configurationJsonSchema() as JsonObject),
        // Readers need not know where the home folder is.
        path: 'config/user.yaml',
        restart_keys: KEYS.filter((key) => needsRestart(key.split('.'))),
        waiting_for_restart: waitingForRestart,
        running: valuesAt(redactedConfiguration(service.configuration.running()), waitingForRestart),
        set_by_environment: setByEnvironment,
      })
    },
  }),
  validateConfiguration: route('POST', '/config/validate', 'read', {
    summary: 'Validate a change of the configuration',
    description: 'Writes nothing.',
    body: changes,
    response: z.object({ ok: z.literal(true), config: configuration }),
    example: { ok: true, config: DEFAULT_CONFIGURATION },
    problems: ['config.invalid'],
    handler: async ({ body }, service) => {
      const checked = await service.configuration.validate(body, await rulesOf(service, () => true))
      if (checked.status !== 'valid') return refusedBy(checked)
      return ok({ ok: true, config: redactedConfiguration(checked.configuration) })
    },
  }),
  changeConfiguration: route('POST', '/config', 'control', {
    summary: 'Change the configuration',
    description:
      'Writes `config/user.yaml` and takes effect at once, except for the keys in `restart_required`. Once an operator ' +
      'token is set, settings of access, money and risk need it. A token that was not set is not set here, and a path ' +
      'stays inside the home folder.',
    body: changes,
    response: z.object({
      ok: z.literal(true),
      path: z.string(),
      restart_required: z.array(z.string()),
      overridden_by_env: z.array(z.string()),
    }),
    example: {
      ok: true,
      path: '/srv/signal-engine/config/user.yaml',
      restart_required: ['api.port'],
      overridden_by_env: [],
    },
    problems: ['auth.forbidden', 'config.invalid', 'config.not_saved'],
    handler: async ({ body, caller, execute }, service) => {
      // A change that cannot be recorded is not made.
      if (service.engine.lost !== null) throw service.engine.lost
      const rules = await rulesOf(service, (path) => mayChange(caller, path))
      const made = await service.configuration.change(body, rules)
      if (made.status !== 'accepted') return refusedBy(made)
      for (const warning of made.warnings) service.logger.warn(warning)
      const isChanged = made.changed.length > 0
      if (isChanged) {
        const record = configurationRecord(made.configuration, sha256Hex)
        const change = { changed: [...made.changed], changed_by: nameOf(caller), ...record }
        try {
          await execute({ kind: 'record-config-change', change, surface: 'api' }, () => null)
        } catch (error) {
          service.logger.error('settings were changed, and the log does not say so', {
            changed: made.changed,
            error,
          })
          return refused('store.unavailable', NOT_RECORDED)
        }
      }
      const { path, restartRequired, overriddenByEnv } = made
      return ok(
        { ok: true, path, restart_required: restartRequired, overridden_by_env: overriddenByEnv },
        { unchanged: !isChanged },
      )
    },
  }),
})

const valuesAt = (shown: Configuration, keys: readonly string[]): Readonly<Record<string, Json>> =>
  Object.fromEntries(keys.map((key) => [key, valueAt(asValues(shown), key.split('.')) ?? null]))

const NOT_RECORDED =
  'The settings are changed and in force, but the event store did not take the record of it'

const rulesOf = async (
  { engine, insecureOk, configuration: store }: Service,
  isAllowed: (path: readonly string[]) => boolean,
): Promise<ChangeOptions> => {
  const { treasury, trading } = await engine.fresh()
  return {
    insecureOk,
    locked: { ...lockedSettings(treasury), ...lockedVenue(trading, store.current().execution) },
    remote: { mayChange: isAllowed },
  }
}

// Created on first use, so that the start does not wait for it.
let jsonSchema: JsonObject | null = null

const KEYS = leavesOf(DEFAULT_CONFIGURATION).map(({ path }) => path.join('.'))

const CODES = {
  malformed: 'request.invalid',
  refused: 'config.invalid',
  forbidden: 'auth.forbidden',
} as const

const refusedBy = ({ status, faults }: ConfigurationRefusal): Refused =>
  refusedWith(invalidProblem(faults, CODES[status]))
