import { signaturePool } from '../adapters/platform/signatures/signature-pool.ts'
import type { Configuration } from '../core/config/schema.ts'
import { foldingOf } from '../core/operations/decide.ts'
import { Engine } from '../engine/engine.ts'
import { CHECKPOINT_PACE, createCheckpointer } from '../engine/integrity/checkpointer.ts'
import { keepCheckpoints } from '../engine/integrity/keep-checkpoints.ts'
import type { IntegrityReport } from '../engine/integrity/report.ts'
import { verifyLog } from '../engine/integrity/verify.ts'
import type { Logger } from '../ports/logger.ts'
import type { Signatures } from '../ports/signatures.ts'
import type { Signer } from '../ports/signer.ts'
import { opening } from './closers.ts'
import { openSigner } from './node.ts'
import type { Store } from './store.ts'
import type { Environment } from './environment.ts'

export interface RunningEngine {
  readonly engine: Engine
  readonly signatures: Signatures
  readonly signer: Signer
  /** What the check of the stored log found before anything was written. */
  readonly integrity: IntegrityReport
  /** Finishes what waits and makes a last checkpoint. The store stays open. */
  close(): Promise<void>
}

export interface EngineOptions {
  readonly surroundings: Environment
  readonly configuration: Configuration
  /** What holds at the time of a decision. */
  readonly settings: () => Configuration
  readonly store: Store
  readonly logger: Logger
  /** A service tells of every start; the command line only makes sure that its key is known. */
  readonly announce: 'always' | 'if-unknown'
}

/** How many of the newest events are verified before a process writes. */
const START_CHECK_EVENTS = 100

/** Checks the newest events, opens the engine on them, and makes this node known to the log. */
export const openRunningEngine = (wishes: EngineOptions): Promise<RunningEngine> =>
  opening(async (closers) => {
    const { surroundings, configuration, store, logger, announce } = wishes
    const { log, checkpoints } = store
    const { clock, version } = surroundings
    const onError = (what: string, error: unknown): void => logger.error(what, { error })

    const signatures = signaturePool({
      onThreadLost: (error) => onError('a verifying thread failed', error),
    })
    closers.add(() => signatures.close())
    const signer = await openSigner(surroundings, configuration, logger)
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
      clock,
      snapshotEveryEvents,
      configuration: wishes.settings,
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
