import type { Configuration } from '../core/config/schema.ts'
import type { Fault } from '../core/shared/faults.ts'
import type { Json } from '../core/shared/json.ts'

export interface ChangeOptions {
  /** Whether an empty `api.auth_token` is accepted. */
  readonly insecureOk: boolean
  /** Dotted keys with the only value that each may be set to. */
  readonly locked?: Readonly<Record<string, Json>>
  /**
   * Rules for a change that comes over the network: which keys the caller may change. Such a change cannot set a token
   * that is not set yet, nor a path outside the home folder.
   */
  readonly remote?: { readonly mayChange: (path: readonly string[]) => boolean }
}

/** The body is not an object, or has invalid values. Nothing changed. */
export type ConfigurationRefusal =
  | { readonly status: 'malformed'; readonly faults: readonly Fault[] }
  | { readonly status: 'refused'; readonly faults: readonly Fault[] }
  /** The caller may not change these keys. */
  | { readonly status: 'forbidden'; readonly faults: readonly Fault[] }

export type ConfigurationCheck =
  | { readonly status: 'valid'; readonly configuration: Configuration }
  | ConfigurationRefusal

export interface ConfigurationChanged {
  readonly status: 'accepted'
  readonly configuration: Configuration
  /** The file that holds the user settings. */
  readonly path: string
  /** Dotted keys whose effective value changed. */
  readonly changed: readonly string[]
  /** Changed keys that take effect only after a restart. */
  readonly restartRequired: readonly string[]
  /** Keys of the request that an environment variable overrides. */
  readonly overriddenByEnv: readonly string[]
  /** Valid but unwise values, for the log. */
  readonly warnings: readonly string[]
}

export type ConfigurationListener = (configuration: Configuration, changed: readonly string[]) => void

/** The configuration of this process: read from files and environment, changed by operators. */
export interface ConfigurationStore {
  /** The effective configuration, secrets included: show it only through `redactedConfiguration`. */
  current(): Configuration
  /** The configuration that is in force: settings that wait for a restart have the values of the start. */
  running(): Configuration
  /** Merges the body into the user settings: checked, saved atomically, then current. One change at a time. */
  change(body: unknown, options: ChangeOptions): Promise<ConfigurationChanged | ConfigurationRefusal>
  /** Runs the checks of `change` without writing or changing anything. */
  validate(body: unknown, options: ChangeOptions): Promise<ConfigurationCheck>
  /** Reads the files again, which another process or a person may have edited. */
  reload(options: ChangeOptions): Promise<ConfigurationChanged | ConfigurationRefusal>
  describe(): {
    readonly path: string
    readonly present: boolean
    /** Dotted keys that the environment of this process sets. */
    readonly setByEnvironment: readonly string[]
    /** Dotted keys whose current value takes effect only after a restart. */
    readonly waitingForRestart: readonly string[]
  }
  /** Called after each change of an effective value. Listeners must not throw. Returns an unsubscribe function. */
  onChange(listener: ConfigurationListener): () => void
}

/** Thrown if the settings could not be saved: a full disk, or no permission. Nothing changed. */
export class ConfigurationFileError extends Error {
  override readonly name = 'ConfigurationFileError'
}
