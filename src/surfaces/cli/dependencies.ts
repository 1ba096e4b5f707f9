import type { DivergenceReport } from '../../backtest/divergence.ts'
import type { BacktestReport } from '../../backtest/report.ts'
import type { SweepDocument } from '../../backtest/sweep/document.ts'
import type { SweepRequest } from '../../backtest/sweep/plan.ts'
import type { BacktestTask } from '../../backtest/sweep/task.ts'
import type { ParameterValues } from '../../core/strategies/strategy.ts'
import type { StrategyDescription } from '../../ports/strategy.ts'
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
  readonly signatures: Signatures
  readonly configuration: ConfigurationCommands
  readonly identity: IdentityCommands
  readonly vault: VaultCommands
  /** 43 random characters. */
  readonly newToken: () => string
  /** Values that no output may show, as far as they are known by now. */
  readonly knownSecrets: () => readonly string[]
  /** Makes the folders of the home; returns those that were missing, relative to it. */
  readonly createFolders: () => Promise<readonly string[]>
  /**
   * Null when nothing was ever stored here. Checkpoints whose database is gone are opened as an empty store, so
   * that the loss shows.
   */
  readonly openExistingStore: () => Promise<StoreSession | null>
  /** Where this home has written a log that is gone with its folder; null if nothing is missing. */
  readonly missingStore: () => Promise<string | null>
  /** Creates the store if there is none. */
  readonly openStore: () => Promise<StoreSession>
  /** Checkpoints in a file of any name. */
  readonly checkpointsIn: (file: string) => CheckpointStore
  /** Where a log can be copied to: the store of this home, or the database or file that is named. */
  readonly copyTarget: (into: string | null) => Promise<CopyTarget>
  /** The venue of real orders, with its keys. The caller closes it. */
  readonly openBroker: () => Promise<Broker>
  /** A run through recorded time. It leaves nothing behind. */
  readonly backtest: (request: BacktestRequest) => Promise<BacktestReport>
  readonly strategies: StrategyCommands
  /** The log of this home, replayed and compared with what it says. It leaves nothing behind. */
  readonly divergence: (request: DivergenceRequest) => Promise<DivergenceReport>
  /** Many runs with different parameters, in processes beside this one. */
  readonly sweep: (request: SweepRequest) => Promise<SweepCommand>
  /** Works on the queue of backtests and sweeps that a store in PostgreSQL has, until a signal. */
  readonly startWorker: (options: WorkerOptions) => Promise<{ readonly stopped: Promise<void> }>
  /** Recorded bars of this home. */
  readonly history: () => Promise<HistoryCommands>
  /** Resolves when the service listens. */
  readonly startService: (options: ServiceOptions) => Promise<RunningService>
  /** The running service of this home; null when none answers. */
  readonly findService: () => Promise<FoundService | null>
}

export interface BacktestRequest extends Omit<BacktestTask, 'parameters'> {
  /** Of the strategy, as text or as they are; those that are missing have their defaults. */
  readonly parameters?: ParameterValues | undefined
  /** How many variants were tried, of which this is one: it deflates the Sharpe ratio. 1 without it. */
  readonly trials?: number | undefined
  /** What was left out of the bars, for people. */
  readonly onError: (message: string) => void
  /** `total` is 0 where the end is not known; `bars` is how many were processed since the last call. */
  readonly onProgress: (done: number, total: number, bars: number) => void
  /** Every event of the run, in order. */
  readonly onEvents?: ((events: readonly Stamped[]) => void) | undefined
}

export interface StrategyCommands {
  /** Built-in ones, then the files of this home. */
  readonly list: () => Promise<readonly FoundStrategy[]>
  /** Writes the files of a new one, and refuses to replace any. */
  readonly create: (name: string, kind: 'typescript' | 'python' | 'producer') => Promise<readonly string[]>
  /** Opens it once. The parameters with all defaults, or a failure that says what is wrong. */
  readonly check: (name: string, parameters: ParameterValues) => Promise<ParameterValues>
  /** Runs the tests of the files with Node's test runner, which prints what it finds and sets the exit code. */
  readonly test: (name: string | null) => Promise<void>
}

/** One that was found, with what is wrong with it. */
export interface FoundStrategy {
  readonly name: string
  /** Null for a built-in one. */
  readonly path: string | null
  readonly description: StrategyDescription | null
  readonly error: string | null
}

export interface DivergenceRequest {
  /** Only trades that were opened from here on, and up to there. */
  readonly from?: PastPoint | undefined
  readonly to?: PastPoint | undefined
  readonly onError: (message: string) => void
  readonly onProgress: (done: number, total: number) => void
}

/** A sweep that was checked and can begin, or go on where it stopped. */
export interface SweepCommand {
  readonly trials: number
  readonly runs: number
  /** Keeps the result of every run, one JSON document per line. */
  readonly file: string
  /** `workers`: processes at once. */
  readonly run: (options: SweepOptions & { readonly workers: number }) => Promise<SweepDocument>
}

export interface SweepOptions {
  /** Whether results that are kept of an earlier run are thrown away. */
  readonly startsAnew: boolean
  readonly heat: readonly [string, string] | null
  /** In runs, and parts of them; `reused` were done before. */
  readonly onProgress: (done: number, total: number, reused: number) => void
}

export interface WorkerOptions {
  /** Runs at once. */
  readonly width: number
  /** For people. */
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
  /** Whether this file could be the user settings. */
  readonly check: (file: string) => Promise<{ readonly status: 'loaded' } | InvalidConfiguration>
  /** Writes `config/user.yaml` unless there is one. */
  readonly createUserSettings: (values: JsonObject) => Promise<{ readonly status: 'created' | 'exists' }>
}

export interface InvalidConfiguration {
  readonly status: 'invalid'
  /** One line each: where, which key, what is wrong. Never a value. */
  readonly problems: readonly string[]
}

export interface IdentityCommands {
  readonly describe: () => Promise<IdentityDescription>
  /** Throws what `create` would throw for the same options, and writes nothing. */
  readonly check: (options: { readonly development: boolean }) => Promise<void>
  /** Loads the saved identity or saves a new one; in plain text only for development and without a password. */
  readonly create: (options: { readonly development: boolean }) => Promise<CreatedIdentity>
  /** Saves the identity that will follow the saved one, unless it is there. */
  readonly prepareSuccessor: () => Promise<{ readonly nodeId: string; readonly publicKey: string }>
  /** Puts it in the place of the saved one. */
  readonly installSuccessor: () => Promise<void>
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

/** An open store, closed when it goes out of scope. */
export interface StoreSession extends AsyncDisposable {
  readonly log: EventLog
  /** Null where the log has none. */
  readonly checkpoints: CheckpointStore | null
  /** How what is read is checked: with this node's key, if it has one. */
  readonly trust: Trust
  /** Null for a log in memory. */
  readonly lease: LeaseRecord | null
  /** From now on the log as it is counts as the one at this place. */
  readonly pinLog: () => Promise<void>
  /** For those who write: opened on first use, and by then the log knows this node's key. */
  readonly openEngine: () => Promise<Engine>
  /** One step towards a checkpoint of the log as it is now, signed with the key of this home. */
  readonly signCheckpoint: () => Promise<CheckpointStep>
}

export const SERVICE_ROLES = ['all', 'api', 'engine'] as const

export type ServiceRole = (typeof SERVICE_ROLES)[number]

/** A place for a log that is copied, and what this home knows of the log that belongs there. */
export interface CopyTarget extends LogTarget {
  /** For people. */
  readonly location: string
  /** Null where checkpoints of the log would be kept by another home. */
  readonly checkpoints: CheckpointStore | null
  /** The hash of the first event that this node has pinned for the place, and those it has pinned for others. */
  readonly pinned: { readonly here: string | null; readonly elsewhere: readonly string[] }
  /** The log that was put there, with checkpoints in another place than usual. */
  readonly openSession: (checkpoints: CheckpointStore) => Promise<StoreSession>
  /** Signs a checkpoint of the log that was put there; false if this home has no key that the log accepts. */
  readonly signCheckpoint: () => Promise<boolean>
}

/** What the command line says instead of the configuration. */
export interface ServiceOptions {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly dashboardPort?: number | undefined
  /** False = no dashboard, whatever is configured. */
  readonly dashboard: boolean
  /** Keep the log in memory and forget it at the end. */
  readonly inMemory?: boolean | undefined
  /** `api` never leads; `engine` has no API; by default both. */
  readonly role?: ServiceRole | undefined
}

export interface RunningService {
  /** With the path prefix. */
  readonly baseUrl: string
  /** Null when the dashboard is off or its port was taken. */
  readonly dashboardUrl: string | null
  /** Resolves once trades can be decided, or the service stops. */
  readonly ready: () => Promise<void>
  /** Resolves after a signal, when everything is closed. */
  readonly stopped: Promise<void>
}

export interface FoundService {
  /** With the path prefix. */
  readonly baseUrl: string
  readonly version: string
  readonly uptimeSeconds: number
}
