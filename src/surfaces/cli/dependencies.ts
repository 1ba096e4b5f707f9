import type { DivergenceReport } from '../../backtest/divergence.ts'
import type { BacktestReport } from '../../backtest/report.ts'
import type { SweepDocument } from '../../backtest/sweep/document.ts'
import type { SweepRequest } from '../../backtest/sweep/plan.ts'
import type { BacktestTask } from '../../backtest/sweep/task.ts'
import type { ParameterValues } from '../../core/strategies/strategy.ts'
import type { StrategyDescription } from '../../ports/strategy.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { EnvironmentVariables } from '../../core/config/environment.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { PastPoint } from '../../core/shared/as-of.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Trust } from '../../engine/integrity/trust.ts'
import type { CheckpointStep } from '../../engine/integrity/checkpointer.ts'
import type {
  BarStore,
  DownloadReport,
  DownloadRequest,
  ImportOptions,
  ImportReport,
  TableColumn,
  TableEncoder,
} from '../../ports/bar-history.ts'
import type { Broker } from '../../ports/broker.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ConfigurationStore } from '../../ports/config-file.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { LeaseRecord } from '../../ports/leadership.ts'
import type { LogTarget } from '../../ports/log-target.ts'
import type { IdentityDescription } from '../../ports/signer.ts'
import type { Signatures } from '../../ports/signatures.ts'

/**
 * Dependencies that the composition provides to commands, for one home folder. Everything is opened on first use.
 * An error that an operator can act on is thrown as `Failure`.
 */
export interface CommandDependencies {
  readonly home: string
  readonly version: string
  readonly clock: Clock
  readonly environment: EnvironmentVariables
  /** SVC_INSECURE_OK: an empty API token is accepted. */
  readonly insecureOk: boolean
  readonly signatures: Signatures
  readonly configuration: ConfigurationCommands
  readonly identity: IdentityCommands
  readonly vault: VaultCommands
  /** 43 random characters. */
  readonly newToken: () => string
  /** Secrets known so far, which no output may show. */
  readonly knownSecrets: () => readonly string[]
  /** Creates the folders of the home. Returns those that were missing, relative to the home. */
  readonly createFolders: () => Promise<readonly string[]>
  /**
   * Null when nothing was ever stored here. Checkpoints whose database is gone are opened as an empty store, so
   * that the loss shows.
   */
  readonly openExistingStore: () => Promise<StoreSession | null>
  /** Location of a log that this home has written and whose folder is gone; null if nothing is missing. */
  readonly missingStore: () => Promise<string | null>
  /** Creates the store if there is none. */
  readonly openStore: () => Promise<StoreSession>
  /** Checkpoints in the named file. */
  readonly checkpointsIn: (file: string) => CheckpointStore
  /** Target of a copied log: the store of this home, or the named database or file. */
  readonly copyTarget: (into: string | null) => Promise<CopyTarget>
  /** The venue of real orders, opened with its keys. The caller closes it. */
  readonly openBroker: () => Promise<Broker>
  /** Runs through recorded time. Stores nothing. */
  readonly backtest: (request: BacktestRequest) => Promise<BacktestReport>
  readonly strategies: StrategyCommands
  /** Replays the log of this home and compares the result with the log. Stores nothing. */
  readonly divergence: (request: DivergenceRequest) => Promise<DivergenceReport>
  /** Many runs with different parameters, in child processes. */
  readonly sweep: (request: SweepRequest) => Promise<SweepCommand>
  /** Runs jobs from the queue of backtests and sweeps in PostgreSQL, until a signal. */
  readonly startWorker: (options: WorkerOptions) => Promise<{ readonly stopped: Promise<void> }>
  /** Recorded bars of this home. */
  readonly history: () => Promise<HistoryCommands>
  /** Resolves when the service listens. */
  readonly startService: (options: ServiceOptions) => Promise<RunningService>
  /** The running service of this home; null if none answers. */
  readonly findService: () => Promise<FoundService | null>
}

export interface BacktestRequest extends Omit<BacktestTask, 'parameters'> {
  /** Parameters of the strategy, as text or values. Missing parameters have their defaults. */
  readonly parameters?: ParameterValues | undefined
  /** Number of variants tried, of which this is one. It deflates the Sharpe ratio. Default: 1. */
  readonly trials?: number | undefined
  /** Receives messages about bars that were left out. */
  readonly onError: (message: string) => void
  /** `total` is 0 if the end is not known. `bars` is the number of bars processed since the last call. */
  readonly onProgress: (done: number, total: number, bars: number) => void
  /** Every event of the run, in order. */
  readonly onEvents?: ((events: readonly Stamped[]) => void) | undefined
}

export interface StrategyCommands {
  /** Built-in strategies, then the files of this home. */
  readonly list: () => Promise<readonly FoundStrategy[]>
  /** What to say of files that others can change; null where nobody can. */
  readonly openCode: () => Promise<string | null>
  /** Writes the files of a new one, and refuses to replace any. */
  readonly create: (name: string, kind: 'typescript' | 'python' | 'producer') => Promise<readonly string[]>
  /** Opens the strategy once. Returns the parameters with all defaults, or throws a failure with the reason. */
  readonly check: (name: string, parameters: ParameterValues) => Promise<ParameterValues>
  /** Runs the tests of the files with Node's test runner, which prints the results and sets the exit code. */
  readonly test: (name: string | null) => Promise<void>
}

/** A strategy that was found, with its error if it has one. */
export interface FoundStrategy {
  readonly name: string
  /** Null for a built-in one. */
  readonly path: string | null
  readonly description: StrategyDescription | null
  readonly error: string | null
}

export interface DivergenceRequest {
  /** Includes only trades opened between `from` and `to`. */
  readonly from?: PastPoint | undefined
  readonly to?: PastPoint | undefined
  readonly onError: (message: string) => void
  readonly onProgress: (done: number, total: number) => void
}

/** A sweep that was checked and can start, or resume where it stopped. */
export interface SweepCommand {
  readonly trials: number
  readonly runs: number
  /** File with the result of every run, one JSON document per line. */
  readonly file: string
  /** `workers`: number of processes at once. */
  readonly run: (options: SweepOptions & { readonly workers: number }) => Promise<SweepDocument>
}

export interface SweepOptions {
  /** True if stored results of an earlier run are discarded. */
  readonly startsAnew: boolean
  readonly heat: readonly [string, string] | null
  /** Progress in runs and fractions of runs. `reused` of them were done before. */
  readonly onProgress: (done: number, total: number, reused: number) => void
}

export interface WorkerOptions {
  /** Number of runs at once. */
  readonly width: number
  /** Receives messages for the user. */
  readonly onError: (message: string) => void
}

export interface HistoryCommands {
  readonly store: BarStore
  readonly importFile: (path: string, options: ImportOptions) => Promise<ImportReport>
  readonly download: (request: DownloadRequest) => Promise<DownloadReport>
  readonly tableEncoder: (columns: readonly TableColumn[]) => TableEncoder
}

export interface ConfigurationCommands {
  /** `config/user.yaml`: its absolute path, and whether it is there. */
  readonly describe: () => { readonly path: string; readonly present: boolean }
  readonly open: () => Promise<
    { readonly status: 'opened'; readonly store: ConfigurationStore } | InvalidConfiguration
  >
  /** Checks whether this file is valid as user settings. */
  readonly check: (file: string) => Promise<{ readonly status: 'loaded' } | InvalidConfiguration>
  /** Writes `config/user.yaml` unless there is one. */
  readonly createUserSettings: (values: JsonObject) => Promise<{ readonly status: 'created' | 'exists' }>
}

export interface InvalidConfiguration {
  readonly status: 'invalid'
  /** One line per problem: place, key and reason. Never contains a value. */
  readonly problems: readonly string[]
}

export interface IdentityCommands {
  readonly describe: () => Promise<IdentityDescription>
  /** Throws the same errors as `create` with these options, and writes nothing. */
  readonly check: (options: { readonly development: boolean }) => Promise<void>
  /** Loads the saved identity or saves a new one. Saves in plain text only for development and without a password. */
  readonly create: (options: { readonly development: boolean }) => Promise<CreatedIdentity>
  /** Saves the identity that will follow the saved one, unless it exists. */
  readonly prepareSuccessor: () => Promise<{ readonly nodeId: string; readonly publicKey: string }>
  /** Replaces the saved identity by its successor. */
  readonly installSuccessor: () => Promise<void>
}

export interface CreatedIdentity {
  readonly status: 'created' | 'loaded'
  /** Path relative to the home. */
  readonly path: string
  readonly nodeId: string
  readonly publicKey: string
  readonly encrypted: boolean
}

export interface VaultCommands {
  isPresent(): Promise<boolean>
  /** Names of the secrets, sorted. */
  list(): Promise<readonly string[]>
  set(name: string, value: string): Promise<void>
  /** False when no secret has this name. */
  remove(name: string): Promise<boolean>
}

/** An open store, closed when it goes out of scope. */
/** The time of now, and the settings that count now. */
export interface Present {
  readonly clock: Clock
  readonly configuration: Configuration
}

export interface StoreSession extends AsyncDisposable {
  readonly log: EventLog
  /** Null if the log has no checkpoints. */
  readonly checkpoints: CheckpointStore | null
  /** Rules for verifying what is read: with this node's key, if it has one. */
  readonly trust: Trust
  /** Null for a log in memory. */
  readonly lease: LeaseRecord | null
  /** Accepts the log in its present state as the log at this place. */
  readonly pinLog: () => Promise<void>
  /** Clock and settings of decisions on this log: where a file is replayed, those of its bars. */
  readonly present: () => Promise<Present>
  /** For those who write: opened on first use, and by then the log knows this node's key. */
  readonly openEngine: () => Promise<Engine>
  /** One step towards a checkpoint of the log as it is now, signed with the key of this home. */
  readonly signCheckpoint: () => Promise<CheckpointStep>
}

export const SERVICE_ROLES = ['all', 'api', 'engine'] as const

export type ServiceRole = (typeof SERVICE_ROLES)[number]

/** A place for a copied log, and what this home has recorded about the log that belongs there. */
export interface CopyTarget extends LogTarget {
  /** Location, as shown to the user. */
  readonly location: string
  /** Null if another home keeps the checkpoints of the log. */
  readonly checkpoints: CheckpointStore | null
  /** Hash of the first event that this node has pinned for this place, and the hashes pinned for other places. */
  readonly pinned: { readonly here: string | null; readonly elsewhere: readonly string[] }
  /** Opens the copied log, with checkpoints in another place than usual. */
  readonly openSession: (checkpoints: CheckpointStore) => Promise<StoreSession>
  /** Signs a checkpoint of the copied log. False if this home has no key that the log accepts. */
  readonly signCheckpoint: () => Promise<boolean>
}

/** Options of the command line that override the configuration. */
export interface ServiceOptions {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly dashboardPort?: number | undefined
  /** False disables the dashboard, whatever is configured. */
  readonly dashboard: boolean
  /** Keeps the log in memory and discards it at the end. */
  readonly inMemory?: boolean | undefined
  /** `api` never leads, `engine` has no API. Default: both. */
  readonly role?: ServiceRole | undefined
}

export interface RunningService {
  /** Base URL with the path prefix. */
  readonly baseUrl: string
  /** Null if the dashboard is off or its port is in use. */
  readonly dashboardUrl: string | null
  /** Resolves once trades can be decided, or the service stops. */
  readonly ready: () => Promise<void>
  /** Resolves after a signal, when everything is closed. */
  readonly stopped: Promise<void>
}

export interface FoundService {
  /** Base URL with the path prefix. */
  readonly baseUrl: string
  readonly version: string
  readonly uptimeSeconds: number
}
