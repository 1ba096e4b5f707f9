import { signatures } from '../adapters/platform/signatures/signatures.ts'
import type { Configuration } from '../core/config/schema.ts'
import { foldingOf } from '../core/operations/decide.ts'
import { Engine } from '../engine/engine.ts'
import { CHECKPOINT_PACE, createCheckpointer } from '../engine/integrity/checkpointer.ts'
import { keepCheckpoints } from '../engine/integrity/keep-checkpoints.ts'
import type { IntegrityReport } from '../engine/integrity/report.ts'
import { verifyLog } from '../engine/integrity/verify.ts'
import type { CheckpointStore } from '../ports/checkpoints.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { Signatures } from '../ports/signatures.ts'
import type { Signer } from '../ports/signer.ts'
import { SecurityError } from '../adapters/platform/crypto/security-error.ts'
import { createEphemeralIdentity } from '../adapters/platform/identity/identity.ts'
import { loadIdentity } from '../adapters/platform/identity/load-identity.ts'
import { createSigner } from '../adapters/platform/identity/signer.ts'
import { opening, type Environment } from './environment.ts'

export interface RunningEngine {
  readonly engine: Engine
  readonly signatures: Signatures
  readonly signer: Signer
  /** Result of the check of the stored log before anything was written. */
  readonly integrity: IntegrityReport
  /** Finishes waiting commands and makes a last checkpoint. The store stays open. */
  close(): Promise<void>
}

export interface EngineOptions {
  readonly environment: Environment
  readonly configuration: Configuration
  /** The settings at the time of a decision. */
  readonly settings: () => Configuration
  readonly store: { readonly log: EventLog; readonly checkpoints: CheckpointStore | null }
  readonly logger: Logger
  /** A service records every start; the command line only makes sure that its key is in the log. */
  readonly announce: 'always' | 'if-unknown'
}

/** How many of the newest events are verified before a process writes. */
const START_CHECK_EVENTS = 100

/** Verifies the newest events, opens the engine, and records this node in the log. */
export const openRunningEngine = (options: EngineOptions): Promise<RunningEngine> =>
  opening(async (closers) => {
    const { environment, configuration, store, logger, announce } = options
    const { log, checkpoints } = store
    const { clock, version } = environment
    const onError = (what: string, error: unknown): void => logger.error(what, { error })

    const signer = await openSigner(environment, configuration, logger)
    closers.add(() => signer.close())
    const integrity = await verifyLog(log, {
      mode: 'fast',
      n: START_CHECK_EVENTS,
      checkpoints,
      signatures,
      clock,
    })
    if (!integrity.ok)
      logger.error(`the stored log does not verify: ${integrity.detail}`, { seq: integrity.first_bad_seq })

    if (checkpoints !== null) {
      const pace = paceOf(configuration)
      const checkpointer = createCheckpointer({ log, checkpoints, signer, signatures, clock, ...pace })
      const onStopped = ({ detail }: { readonly detail: string }): void =>
        logger.error(`no further checkpoints are signed: ${detail}`)
      const keeper = keepCheckpoints({
        log,
        checkpointer,
        clock,
        everyMs: pace.everyMs,
        onStopped,
        onError,
      })
      closers.add(() => keeper.close())
    }

    const snapshotEveryEvents = configuration.store.snapshot_every_events
    const engine = await Engine.open({
      log,
      signer,
      isSigned: (item) => signatures.isSigned(item),
      clock,
      snapshotEveryEvents,
      configuration: options.settings,
      version,
      onError,
    })
    closers.add(() => engine.close())
    await introduce(engine, signer, { version, integrity, announce, configuration })
    return { engine, signatures, signer, integrity, close: () => closers.closeAll() }
  })

/** The log must hold this node's key before anything that the node signs. */
const introduce = async (
  engine: Engine,
  signer: Signer,
  {
    version,
    integrity,
    announce,
    configuration,
  }: Pick<RunningEngine, 'integrity'> &
    Pick<EngineOptions, 'announce' | 'configuration'> & { readonly version: string },
): Promise<void> => {
  const { nodeId: node_id, publicKey: public_key, ephemeral } = signer
  const isKnown = engine.state.operations.nodes.publicKeys.get(node_id) === public_key
  if (announce === 'if-unknown' && isKnown && integrity.ok) return
  const { ok, reason, first_bad_seq } = integrity
  const started = {
    version,
    node_id,
    public_key,
    ephemeral,
    integrity: { ok, reason, first_bad_seq },
    folding: foldingOf(configuration),
  }
  await engine.execute({ kind: 'start', started })
}

const paceOf = ({ store }: Configuration): Pace => ({
  ...CHECKPOINT_PACE,
  everyEvents: store.checkpoint_every_events,
  everyMs: store.checkpoint_every_seconds * 1000,
})

type Pace = Readonly<Record<keyof typeof CHECKPOINT_PACE, number>>

/** The saved identity; without a password to save one, an ephemeral identity of this process. */
const openSigner = async (
  environment: Environment,
  configuration: Configuration,
  logger: Logger,
): Promise<Signer> => {
  const { home, masterPassword, devMode, clock } = environment
  const nodePrefix = configuration.identity.node_prefix
  const onThreadFault = (error: Error): void => logger.error('the signing thread failed', { error })
  try {
    const { identity } = await loadIdentity({ home, password: masterPassword, devMode, nodePrefix, clock })
    return createSigner(identity, onThreadFault)
  } catch (error) {
    if (!(error instanceof SecurityError)) throw error
    logger.warn(`${error.message} This process signs with an identity that ends with it.`)
    return createSigner(createEphemeralIdentity(nodePrefix), onThreadFault)
  }
}
