import { signatures } from '../adapters/platform/signatures/signatures.ts'
import { memoryCheckpoints } from '../adapters/storage/memory/memory-checkpoints.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { configurationRecord } from '../core/config/recorded.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DAMAGED_LOG } from '../core/consequences.ts'
import type { LogRecord } from '../core/log/event.ts'
import { foldingOf } from '../core/operations/decide.ts'
import { KILL_SWITCH } from '../core/shared/level.ts'
import { Engine } from '../engine/engine.ts'
import { CHECKPOINT_PACE, createCheckpointer, type CheckpointStep } from '../engine/integrity/checkpointer.ts'
import { keepCheckpoints } from '../engine/integrity/keep-checkpoints.ts'
import type { IntegrityReport } from '../engine/integrity/report.ts'
import type { Trust } from '../engine/integrity/trust.ts'
import type { Folded } from '../engine/integrity/trusted-fold.ts'
import { verifyLog } from '../engine/integrity/verify.ts'
import type { PayloadOf } from '../core/events/catalogue.ts'
import type { SignedCheckpoint } from '../core/log/checkpoint.ts'
import type { Clock } from '../ports/clock.ts'
import type { CheckpointStore } from '../ports/checkpoints.ts'
import { RECORD_EVERY_MS } from '../engine/integrity/recorded-checkpoint.ts'
import { proveEvent, proveGrowth, type Proved, type ProvedGrowth } from '../engine/proofs/prove.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { Signer } from '../ports/signer.ts'
import { SecurityError } from '../adapters/platform/crypto/private-file.ts'
import { IdentityNotAdmittedError } from '../adapters/platform/identity/identity-file.ts'
import { createEphemeralIdentity } from '../adapters/platform/identity/identity.ts'
import { loadIdentity } from '../adapters/platform/identity/load-identity.ts'
import { createSigner } from '../adapters/platform/identity/signer.ts'
import { opening, type Environment } from './environment.ts'
import { pinFirst, trustOf } from './trust.ts'

export interface RunningEngine {
  readonly engine: Engine
  readonly signer: Signer
  readonly trust: Trust
  /** Result of the check of the stored log, made before anything was written. */
  readonly integrity: IntegrityReport
  /** Proves that a stored event is in the log, for verifiers who know only the public key. */
  readonly prove: (record: LogRecord) => Promise<Proved>
  /** Proves that the log of a later checkpoint begins with the log of an earlier one. */
  readonly proveGrowth: (from: number | null, to: number | null) => Promise<ProvedGrowth>
  /** Makes one step towards a checkpoint of the present log. */
  readonly signCheckpoint: () => Promise<CheckpointStep>
  /** Finishes waiting commands and makes a last checkpoint. The store stays open. */
  close(): Promise<void>
}

export interface EngineOptions {
  readonly environment: Environment
  /** Clock of decisions. Default: the clock of the environment. */
  readonly clock?: Clock | undefined
  readonly configuration: Configuration
  /** The settings at the time of a decision. */
  readonly settings: () => Configuration
  readonly store: {
    readonly log: EventLog
    readonly checkpoints: CheckpointStore | null
    /** Location of the log; null for a log in memory. */
    readonly place: string | null
  }
  readonly logger: Logger
  /**
   * `always`: record every start, as a service does. `if-unknown`: only ensure that the log has this node's key, as a
   * command does.
   */
  readonly announce: 'always' | 'if-unknown'
}

/** Number of the newest events that are verified before a process writes. */
const START_CHECK_EVENTS = 100

/** Opens the engine, verifies the newest events against its folded state, and records this node in the log. */
export const openRunningEngine = (options: EngineOptions): Promise<RunningEngine> =>
  opening(async (closers) => {
    const { environment, configuration, store, logger, announce } = options
    const { log, checkpoints, place } = store
    const { clock, version, home } = environment
    const onError = (what: string, error: unknown): void => logger.error(what, { error })

    const signer = await openSigner(environment, configuration, logger)
    closers.add(() => signer.close())
    const trust = await trustOf(home, signer, signer.ephemeral ? null : place)
    const snapshotEveryEvents = configuration.store.snapshot_every_events
    // Seq of the first unsigned event found while opening. The start itself then locks the engine.
    let unsignedSeq: number | null = null
    let lock: (() => void) | null = null
    const engine: Engine = await Engine.open({
      log,
      signer,
      isSigned: (item) => signatures.isSigned(item),
      clock: options.clock ?? clock,
      snapshotEveryEvents,
      trust,
      onUnsigned: ([first]) => {
        logger.error(
          'stored events are not signed by an accepted key: they change nothing, and nothing is traded',
          {
            seq: first?.seq,
          },
        )
        unsignedSeq ??= first?.seq ?? null
        lock?.()
      },
      configuration: options.settings,
      version,
      onLost: ({ message }) =>
        logger.error(
          `${message}. The kill switch is at level 3 and writes are refused. Copy what this process still holds before ` +
            'you stop it: see "Files that vanish" in docs/operating.md.',
        ),
      onError,
    })
    closers.add(() => engine.close())
    const checked = await verifyLog(log, {
      mode: 'fast',
      n: START_CHECK_EVENTS,
      checkpoints,
      trust,
      fold: () => engine.folded(),
      clock,
    })
    if (!checked.ok)
      logger.error(`the stored log does not verify: ${checked.detail}`, { seq: checked.first_bad_seq })
    const integrity = unsignedSeq === null ? checked : unsignedReport(checked, unsignedSeq)
    lock = () => {
      engine
        .execute({ kind: 'escalate', to: KILL_SWITCH.lockdown, cause: DAMAGED_LOG })
        .catch((error: unknown) => onError('could not lock the engine', error))
    }
    const newest = (await checkpoints?.read('newest'))?.notes.at(-1) ?? null
    const isNewLog = checkpoints !== null && checked.head_seq === 0
    // A home without a checkpoint records one as soon as it is signed: a recorded checkpoint must not be missing after
    // a crash.
    const checkpoint = newest !== null || isNewLog ? recordOf(newest) : null
    await introduce(engine, signer, { version, integrity, announce, configuration, checkpoint })
    const pace = paceOf(configuration)
    // A log in memory has checkpoints only for callers that request a proof.
    const kept = checkpoints ?? memoryCheckpoints()
    const checkpointer = createCheckpointer({
      log,
      checkpoints: kept,
      signer,
      signatures,
      fold: () => engine.folded(),
      clock,
      ...pace,
    })
    const signCheckpoint = (): Promise<CheckpointStep> => checkpointer.step('now')
    if (checkpoints !== null) {
      const onStopped = ({ detail }: { readonly detail: string }): void =>
        logger.error(`no further checkpoints are signed: ${detail}`)
      const { checkpoint_webhook: webhook } = configuration.store
      let recordedAtMs = checkpoint === null ? Number.NEGATIVE_INFINITY : clock.now()
      const recordDue = async (signed: SignedCheckpoint): Promise<void> => {
        if (clock.now() - recordedAtMs < RECORD_EVERY_MS) return
        recordedAtMs = clock.now()
        await engine.execute({ kind: 'record-checkpoint', checkpoint: recordOf(signed) })
      }
      const onSigned = async (): Promise<void> => {
        const signed = (await checkpoints.read('newest')).notes.at(-1)
        if (signed === undefined) return
        if (webhook !== '')
          await publish(signed.note, webhook).catch((error: unknown) => onError(NOT_PUBLISHED, error))
        await recordDue(signed)
      }
      // The first event of a new log records that checkpoints are kept, so the first checkpoint is made at once.
      if (newest === null && (await checkpointer.step('now')).status === 'signed') {
        const first = (await checkpoints.read('newest')).notes.at(-1)
        if (first !== undefined) await recordDue(first)
      }
      const keeper = keepCheckpoints({
        log,
        checkpointer,
        clock,
        everyMs: pace.everyMs,
        onSigned,
        onStopped,
        onError,
      })
      closers.add(() => keeper.close())
    }
    // Pins the log only if none is pinned. A replaced log must be accepted by an operator.
    if (place !== null && !signer.ephemeral && trust.firstHash === null) await pinFirst(log, home, place)
    const fold = (): Promise<Folded> => engine.folded()
    const prover = { log, checkpoints: kept, signatures, trust, fold, signer, signCheckpoint }
    return {
      engine,
      signer,
      trust,
      integrity,
      prove: (record) => proveEvent(prover, record),
      proveGrowth: (from, to) => proveGrowth(prover, from, to),
      signCheckpoint,
      close: () => closers.closeAll(),
    }
  })

const unsignedReport = (report: IntegrityReport, seq: number): IntegrityReport =>
  report.ok ? { ...report, ok: false, reason: 'signature', first_bad_seq: seq } : report

/** Adds this node's key to the log, before anything that the node signs. */
const introduce = async (
  engine: Engine,
  signer: Signer,
  {
    version,
    integrity,
    announce,
    configuration,
    checkpoint,
  }: Pick<RunningEngine, 'integrity'> &
    Pick<EngineOptions, 'announce' | 'configuration'> & {
      readonly version: string
      readonly checkpoint: RecordedCheckpoint | null
    },
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
    checkpoint,
    folding: foldingOf(configuration),
    ...configurationRecord(configuration, sha256Hex),
  }
  const outcome = await engine.execute({ kind: 'start', started })
  if (outcome.status === 'refused') throw new IdentityNotAdmittedError(node_id, public_key, ephemeral)
}

const NOT_PUBLISHED = 'the webhook did not take a checkpoint'
const WEBHOOK_MS = 5000

/**
 * Publishes a checkpoint to a place that cannot be reset together with this machine. If it fails, the next checkpoint
 * covers this one.
 */
const publish = async (note: string, url: string): Promise<void> => {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  const signal = AbortSignal.timeout(WEBHOOK_MS)
  const { status } = await fetch(url, { method: 'POST', body: note, headers, signal })
  if (status >= 300) throw new Error(`it answered ${status}`)
}

type RecordedCheckpoint = PayloadOf<'system.checkpoint.v1'>

/** A checkpoint as recorded in the log. Its size is 0 while there is none yet. */
const recordOf = (newest: SignedCheckpoint | null): RecordedCheckpoint => ({
  size: newest?.frontier.size ?? 0,
  root: Buffer.from(newest?.root ?? []).toString('base64'),
})

const paceOf = ({ store }: Configuration): Pace => ({
  ...CHECKPOINT_PACE,
  everyEvents: store.checkpoint_every_events,
  everyMs: store.checkpoint_every_seconds * 1000,
})

type Pace = Readonly<Record<keyof typeof CHECKPOINT_PACE, number>>

/** The saved identity. Without a password to save one, an ephemeral identity of this process. */
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
