import type { BacktestReport } from '../../backtest/report.ts'
import type { StrategyName } from '../../backtest/strategies.ts'
import type { EnvironmentVariables } from '../../core/config/environment.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CheckpointStep } from '../../engine/integrity/checkpointer.ts'
import type { Broker } from '../../ports/broker.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ConfigurationStore } from '../../ports/config-file.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Signatures } from '../../ports/signatures.ts'

/**
 * What the composition hands to commands, for one home folder. Nothing is opened before it is asked for.
 * An error that an operator can act on is thrown as `Failure`.
 */
export interface CommandDependencies {
  readonly home: string
  readonly version: string
  readonly clock: Clock
  readonly environment: EnvironmentVariables
  /** SVC_INSECURE_OK: an empty API token is accepted. */
  readonly insecureOk: boolean
  /** 43 random characters. */
  newToken(): string
  /** Values that no output may show, as far as they are known by now. */
  knownSecrets(): readonly string[]
  /** Makes the folders of the home; returns those that were missing, relative to it. */
  createFolders(): Promise<readonly string[]>
  readonly configuration: ConfigurationCommands
  readonly identity: IdentityCommands
  readonly vault: VaultCommands
  /**
   * Null when nothing was ever stored here. Checkpoints whose database is gone are opened as an empty store, so
   * that the loss shows.
   */
  openExistingStore(): Promise<StoreSession | null>
  /** Creates the store if there is none. */
  openStore(): Promise<StoreSession>
  /** Checks signatures on every core. The caller closes it. */
  openSignatures(): Promise<Signatures>
  /** Checkpoints in a file of any name. */
  openCheckpoints(file: string): Promise<CheckpointStore>
  /** The venue of real orders, with its keys. The caller closes it. */
  openBroker(): Promise<Broker>
  /** A run through recorded time. It leaves nothing behind. */
  backtest(request: BacktestRequest): Promise<BacktestReport>
  /** Resolves when the service listens. */
  startService(options: ServiceOptions): Promise<RunningService>
  /** The running service of this home; null when none answers. */
  findService(): Promise<FoundService | null>
}

export interface BacktestRequest {
  readonly strategy: StrategyName
  /** Alone; without it the whole universe. */
  readonly symbol?: string
  readonly fromMs?: number
  readonly toMs?: number
  readonly seed?: number
  /** Recorded bars; without it the file of the settings, or a simulated market. */
  readonly file?: string
  /** The bars and signals of the log of this home, instead. */
  readonly isFromLog: boolean
  readonly resetsDaily: boolean
  /** What was left out of the bars, for people. */
  readonly onError: (message: string) => void
  readonly onProgress: (done: number, total: number) => void
}

export interface ConfigurationCommands {
  /** `config/user.yaml`: its absolute path, and whether it is there. */
  describe(): Promise<{ readonly path: string; readonly present: boolean }>
  open(): Promise<OpenedConfiguration>
  /** What would hold if this file were the user settings. */
  check(file: string): Promise<CheckedConfiguration>
  /** Writes `config/user.yaml` unless there is one. */
  createUserSettings(values: JsonObject): Promise<{ readonly status: 'created' | 'exists' }>
}

export type OpenedConfiguration =
  | {
      readonly status: 'opened'
      readonly store: ConfigurationStore
      /** What is allowed but unwise. */
      readonly warnings: readonly string[]
    }
  | InvalidConfiguration

export type CheckedConfiguration =
  | { readonly status: 'valid'; readonly configuration: Configuration }
  | InvalidConfiguration

export interface InvalidConfiguration {
  readonly status: 'invalid'
  /** One line each: where, which key, what is wrong. Never a value. */
  readonly problems: readonly string[]
}

export interface IdentityCommands {
  describe(): Promise<IdentityDescription>
  /** Loads the saved identity or saves a new one; in plain text only for development and without a password. */
  create(options: { readonly development: boolean }): Promise<CreatedIdentity>
}

/** What anyone may know of the saved identity, without the password. */
export interface IdentityDescription {
  readonly present: boolean
  readonly node_id: string | null
  readonly public_key: string | null
  readonly encrypted: boolean | null
  readonly error: string | null
}

export interface CreatedIdentity {
  readonly status: 'created' | 'loaded'
  /** Relative to the home. */
  readonly path: string
  readonly nodeId: string
  readonly publicKey: string
  readonly encrypted: boolean
}

export interface VaultCommands {
  isPresent(): Promise<boolean>
  /** Names, sorted. */
  list(): Promise<readonly string[]>
  set(name: string, value: string): Promise<void>
  /** False when no secret has this name. */
  remove(name: string): Promise<boolean>
}

/** An open store. The caller closes it. */
export interface StoreSession {
  readonly log: EventLog
  /** Null where the log has none. */
  readonly checkpoints: CheckpointStore | null
  /** For those who write: opened on first use, and by then the log knows this node's key. */
  openEngine(): Promise<Engine>
  /** One step towards a checkpoint of the log as it is now, signed with the key of this home. */
  signCheckpoint(): Promise<CheckpointStep>
  close(): Promise<void>
}

/** What the command line says instead of the configuration; null = as configured. */
export interface ServiceOptions {
  readonly host: string | null
  readonly port: number | null
  readonly dashboardPort: number | null
  readonly dashboard: boolean
  /** Keep the log in memory and forget it at the end. */
  readonly inMemory: boolean
}

export interface RunningService {
  readonly baseUrl: string
  /** Null when the dashboard is off or its port was taken. */
  readonly dashboardUrl: string | null
  /** Resolves after a signal, when everything is closed. */
  readonly stopped: Promise<void>
}

export interface FoundService {
  /** With the path prefix. */
  readonly baseUrl: string
  readonly version: string
  readonly uptimeSeconds: number
}
