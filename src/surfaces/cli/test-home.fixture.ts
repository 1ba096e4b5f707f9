import { createOwnFiles, testStrategies } from '../../compose/new-files.ts'
import { checkTradable, listStrategies, openCodeWarning } from '../../compose/strategies.ts'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { sha256Hex } from '../../../test/records.fixture.ts'
import { testClock } from '../../../test/signer.fixture.ts'
import { nodeOf, resigned, started } from '../../../test/tamper/signed-log.fixture.ts'
import { checkpointFile } from '../../adapters/platform/checkpoint-file/checkpoint-file.ts'
import { openConfigurationStore } from '../../adapters/platform/config-file/configuration-store.ts'
import { createUserSettings } from '../../adapters/platform/config-file/user-settings.ts'
import { loadConfiguration } from '../../adapters/platform/config-file/sources.ts'
import { describeIdentity } from '../../adapters/platform/identity/identity-file.ts'
import { createEphemeralIdentity } from '../../adapters/platform/identity/identity.ts'
import {
  checkIdentity,
  installSuccessor,
  loadIdentity,
  prepareSuccessor,
} from '../../adapters/platform/identity/load-identity.ts'
import { createSigner } from '../../adapters/platform/identity/signer.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { createVault, type Vault } from '../../adapters/platform/vault/vault.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { EMPTY_HEAD, stampedFrom, type LogRecord, type Stamped } from '../../core/log/event.ts'
import { chain } from '../../core/log/hash-chain.ts'
import { BEFORE_ALL } from '../../core/shared/brand.ts'
import { backtestCommand } from '../../compose/backtest-command.ts'
import { runDivergence } from '../../compose/divergence.ts'
import { createHistoryCommands } from '../../compose/history.ts'
import { sweepCommand } from '../../compose/sweep.ts'
import { Engine } from '../../engine/engine.ts'
import { CHECKPOINT_PACE, createCheckpointer } from '../../engine/integrity/checkpointer.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Signer } from '../../ports/signer.ts'
import { Failure } from './failure.ts'
import { runCommandLine } from './run.ts'
import type { ServiceOptions, StoreSession, CommandDependencies } from './dependencies.ts'

export const VERSION = '1.2.3'

export interface RunOptions {
  readonly stdin?: string
  readonly environment?: Readonly<Record<string, string>>
  /** True if the output is a terminal. */
  readonly terminal?: boolean
  /** Replaces dependencies of the home. */
  readonly dependencies?: Partial<CommandDependencies>
  /** Replaces the stream that collects the output. */
  readonly stdout?: Writable
}

export interface RunResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A home in a temporary folder: real files, real keys, and a log in memory that lives as long as the home. */
export const openTestHome = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  const clock = testClock()
  let log: EventLog | null = null
  const services: ServiceOptions[] = []
  let opened = 0
  let lastSigner: Signer | null = null

  // One vault per password, because deriving its key takes time.
  const vaults = new Map<string | undefined, Vault>()
  const vaultWith = (password: string | undefined): Vault => {
    const vault = vaults.get(password) ?? createVault({ home: folder, password, clock })
    vaults.set(password, vault)
    return vault
  }

  const checkpoints = checkpointFile(join(folder, 'data', 'events.db.checkpoints'))

  const dependenciesAt =
    (environment: Readonly<Record<string, string>>) =>
    (home: string): CommandDependencies => {
      const password = environment['SVC_MASTER_PASSWORD']
      const place = { home, env: environment }
      const identityOptions = { home, password, nodePrefix: 'svc', clock }
      const devMode = environment['SVC_DEV_MODE'] === '1'

      const sessionOn = async (existing: EventLog): Promise<StoreSession> => {
        const { node_id: nodeId, public_key: publicKey } = await describeIdentity(home)
        const ownKey = nodeId === null || publicKey === null ? null : { nodeId, publicKey }
        opened += 1
        let engine: Engine | null = null
        let signer: Signer | null = null
        return {
          log: existing,
          checkpoints,
          trust: { signatures, own: ownKey, firstHash: null },
          lease: null,
          pinLog: async () => undefined,
          present: async () => {
            const configuration = await openConfigurationStore(place)
            if (configuration.status === 'invalid') throw new Error(configuration.problems.join('; '))
            return { clock, configuration: configuration.store.current() }
          },
          openEngine: async () => {
            signer ??= await openSigner()
            lastSigner = signer
            engine ??= await startEngine(existing, signer)
            return engine
          },
          signCheckpoint: async () => {
            signer ??= await openSigner()
            engine ??= await startEngine(existing, signer)
            const dependencies = { log: existing, checkpoints, signer, signatures, clock }
            return createCheckpointer({ ...dependencies, ...CHECKPOINT_PACE }).step('now')
          },
          [Symbol.asyncDispose]: async () => {
            opened -= 1
            await engine?.close()
            await signer?.close()
          },
        }
      }

      const openSigner = async (): Promise<Signer> => {
        const saved = existsSync(join(home, 'identity', 'identity.json'))
        const { identity } = saved
          ? await loadIdentity({ ...identityOptions, devMode })
          : { identity: createEphemeralIdentity('svc') }
        return createSigner(identity, failLoudly)
      }

      const startEngine = async (on: EventLog, signer: Signer): Promise<Engine> => {
        const configuration = await openConfigurationStore(place)
        if (configuration.status === 'invalid') throw new Error(configuration.problems.join('; '))
        const engine = await Engine.open({
          log: on,
          signer,
          isSigned: (item) => signatures.isSigned(item),
          clock,
          snapshotEveryEvents: 100,
          configuration: () => configuration.store.current(),
          version: VERSION,
          onError: (what) => failLoudly(new Error(what)),
        })
        if (!engine.state.operations.nodes.publicKeys.has(signer.nodeId)) {
          await engine.execute({
            kind: 'start',
            started: {
              version: VERSION,
              node_id: signer.nodeId,
              public_key: signer.publicKey,
              ephemeral: signer.ephemeral,
              integrity: { ok: true, reason: null, first_bad_seq: null },
            },
          })
        }
        return engine
      }

      return {
        home,
        version: VERSION,
        clock,
        environment,
        insecureOk: environment['SVC_INSECURE_OK'] === '1',
        newToken: () => randomBytes(32).toString('base64url'),
        knownSecrets: () =>
          [password, environment['SVC_API__AUTH_TOKEN']].filter((text) => text !== undefined),
        createFolders: async () => {
          const missing = ['config', 'data', 'identity'].filter((name) => !existsSync(join(home, name)))
          for (const name of missing) await mkdir(join(home, name), { recursive: true, mode: 0o700 })
          return missing
        },
        configuration: {
          describe: () => {
            const path = join(home, 'config', 'user.yaml')
            return { path, present: existsSync(path) }
          },
          open: () => openConfigurationStore(place),
          check: (file) => loadConfiguration({ ...place, userFile: file }),
          createUserSettings: (values) => createUserSettings(home, values),
        },
        identity: {
          describe: () => describeIdentity(home),
          check: ({ development }) => checkIdentity({ ...identityOptions, devMode: devMode || development }),
          create: async ({ development }) => {
            const loaded = await loadIdentity({ ...identityOptions, devMode: devMode || development })
            const { nodeId, publicKey } = loaded.identity
            const { status, encrypted } = loaded
            return { status, path: 'identity/identity.json', nodeId, publicKey, encrypted }
          },
          prepareSuccessor: () => prepareSuccessor({ ...identityOptions, devMode: true }),
          installSuccessor: () => installSuccessor(home),
        },
        vault: vaultWith(password),
        openExistingStore: async () => (log === null ? null : sessionOn(log)),
        missingStore: async () => null,
        openStore: async () => sessionOn((log ??= new MemoryLog())),
        signatures,
        checkpointsIn: (file) => checkpointFile(file),
        copyTarget: () => Promise.reject(new Error('the log of this home is in memory')),
        openBroker: () => Promise.reject(new Failure('live.not_ready', 'this home has no venue')),
        backtest: async (request) => {
          const configuration = await openConfigurationStore(place)
          if (configuration.status === 'invalid') throw new Error(configuration.problems.join('; '))
          return backtestCommand(configuration.store.current(), request, { home, version: VERSION, log })
        },
        strategies: {
          list: () => listStrategies({ home, isBacktest: false, onOutput: () => undefined }),
          check: (name, parameters) => checkTradable(name, parameters, home),
          openCode: () => openCodeWarning(home),
          create: (name, kind) => createOwnFiles(home, name, kind),
          test: (name) => testStrategies(home, name),
        },
        divergence: async (request) => {
          const configuration = await openConfigurationStore(place)
          if (configuration.status === 'invalid') throw new Error(configuration.problems.join('; '))
          if (log === null) throw new Failure('store.missing', 'there is no event store yet')
          return runDivergence(configuration.store.current(), request, { version: VERSION, log })
        },
        sweep: async (request) => {
          const configuration = await openConfigurationStore(place)
          if (configuration.status === 'invalid') throw new Error(configuration.problems.join('; '))
          return sweepCommand(request, {
            home,
            version: VERSION,
            configuration: configuration.store.current(),
          })
        },
        startWorker: () =>
          Promise.reject(new Failure('request.invalid', 'the log of this home is in memory')),
        history: async () => createHistoryCommands(home, clock),
        startService: async (options) => {
          services.push(options)
          return {
            baseUrl: `http://127.0.0.1:${options.port ?? 5050}/api/v1`,
            dashboardUrl: options.dashboard ? `http://127.0.0.1:${options.dashboardPort ?? 5051}` : null,
            ready: async () => undefined,
            stopped: Promise.resolve(),
          }
        },
        findService: async () => null,
      }
    }

  const run = async (words: readonly string[], options: RunOptions = {}): Promise<RunResult> => {
    const environment = { SVC_HOME: folder, ...options.environment }
    const stdout = captured(options.terminal ?? false)
    const stderr = captured(options.terminal ?? false)
    const exitCode = await runCommandLine(words, {
      stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
      stdout: options.stdout ?? stdout.stream,
      stderr: stderr.stream,
      environment,
      currentFolder: folder,
      version: VERSION,
      clock,
      dependenciesAt: async (at) => ({ ...dependenciesAt(environment)(at), ...options.dependencies }),
    })
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  }

  return {
    folder,
    clock,
    run,
    /** Options of the services that were started. */
    services,
    log: () => log,
    /** The key of the command that wrote last. */
    signer: (): Signer => {
      if (lastSigner === null) throw new Error('nothing was written yet')
      return lastSigner
    },
    records: async (): Promise<readonly LogRecord[]> =>
      log === null ? [] : log.read({ order: 'asc', limit: 1_000_000 }),
    /** Adopts unsigned events: signs them as a node that stored them one by one would have. */
    adoptRecords: async (records: readonly LogRecord[]): Promise<void> => {
      const node = nodeOf(7)
      const begin = records[0] === undefined ? BEFORE_ALL : stampedFrom(records[0]).recordedAt
      const first: Stamped = {
        ...started(node),
        seq: 0,
        id: 'started',
        ts: begin,
        recordedAt: begin,
        traceId: null,
        dedupeKey: null,
        source: 'system',
      }
      const events = [first, ...records.map(stampedFrom)].map((event, index) => ({
        ...event,
        seq: index + 1,
      }))
      const chained = chain(events, EMPTY_HEAD, sha256Hex)
      const unsigned = { signature: null, signer: node.nodeId, batchSignature: null, commands: null }
      const adopted = new MemoryLog()
      const signed = await resigned(
        chained.map((record) => ({ ...record, ...unsigned })),
        node,
      )
      await adopted.append(signed, EMPTY_HEAD)
      log = adopted
    },
    /** Makes later commands use the log of another process. */
    shareLog: (shared: EventLog): void => {
      log = shared
    },
    /** Replaces the records, as direct changes to the database would. */
    replaceRecords: async (records: readonly LogRecord[]): Promise<void> => {
      const replaced = new MemoryLog()
      for (const record of records) await replaced.append([record], await replaced.head())
      log = replaced
    },
    /** Signs a checkpoint of the present log, as a running service would. */
    checkpoint: async (): Promise<void> => {
      if (log === null) throw new Error('there is no log yet')
      const signer = createSigner(
        (await loadIdentity({ home: folder, password: undefined, devMode: true, nodePrefix: 'svc', clock }))
          .identity,
        failLoudly,
      )
      const checkpointer = createCheckpointer({
        log,
        checkpoints,
        signer,
        signatures,
        clock,
        everyEvents: 1,
        everyMs: 1,
        stepMax: 1_000_000,
      })
      await checkpointer.step('now')
      await signer.close()
    },
    close: async (): Promise<void> => {
      await rm(folder, { recursive: true, force: true })
      if (opened > 0) throw new Error(`${opened} store sessions were not closed`)
    },
  }
}

export type TestHome = Awaited<ReturnType<typeof openTestHome>>

const failLoudly = (error: Error): never => {
  throw error
}

const captured = (terminal: boolean) => {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString('utf8')
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY: terminal }), text: () => text }
}
