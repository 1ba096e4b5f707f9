import type { Configuration } from '../core/config/schema.ts'
import type { Fault } from '../core/shared/faults.ts'
import type { Json } from '../core/shared/json.ts'

export interface ChangeOptions {
  /** Whether an empty `api.auth_token` is accepted. */
  readonly insecureOk: boolean
  /** Keys, dotted, that may only be given this value. */
  readonly locked?: Readonly<Record<string, Json>>
}

/** The body was not an object, or asks for what cannot be. Nothing changed. */
export type ConfigurationRefusal =
  | { readonly status: 'malformed'; readonly faults: readonly Fault[] }
  | { readonly status: 'refused'; readonly faults: readonly Fault[] }

export type ConfigurationCheck =
  | { readonly status: 'valid'; readonly configuration: Configuration }
  | ConfigurationRefusal

export interface ConfigurationChanged {
  readonly status: 'accepted'
  readonly configuration: Configuration
  /** The file that holds the user settings. */
  readonly path: string
  /** Key paths, dotted, whose effective value is another than before. */
  readonly changed: readonly string[]
  /** Those of them that count only after a restart. */
  readonly restartRequired: readonly string[]
  /** Keys that were asked for but are decided by the environment. */
  readonly overriddenByEnv: readonly string[]
  /** What is allowed but unwise, for the log. */
  readonly warnings: readonly string[]
}

export type ConfigurationListener = (configuration: Configuration, changed: readonly string[]) => void

/** The configuration of this process: read from files and environment, changed by operators. */
export interface ConfigurationStore {
  /** The effective configuration, secrets included: show it only through `redactedConfiguration`. */
  current(): Configuration
  /** Body over user settings: checked, saved atomically, then current. One change at a time. */
  change(body: unknown, options: ChangeOptions): Promise<ConfigurationChanged | ConfigurationRefusal>
  /** The same checks; nothing is written or changed. */
  validate(body: unknown, options: ChangeOptions): Promise<ConfigurationCheck>
  /** Takes over what another process or a person wrote into the files. */
  reload(options: ChangeOptions): Promise<ConfigurationChanged | ConfigurationRefusal>
  describe(): {
    readonly path: string
    readonly present: boolean
    /** Keys, dotted, that the environment of this process decides. */
    readonly setByEnvironment: readonly string[]
    /** Keys, dotted, whose effective value counts only after a restart: this process began with another. */
    readonly waitingForRestart: readonly string[]
  }
  /** Called after each change of an effective value. Listeners do not throw. Returns how to stop. */
  onChange(listener: ConfigurationListener): () => void
}

/** The settings could not be saved: a full disk, a folder without permission. Nothing changed. */
export class ConfigurationFileError extends Error {
  override readonly name = 'ConfigurationFileError'
}
