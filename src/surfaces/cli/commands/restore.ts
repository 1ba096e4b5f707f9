import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { noteFaultOf, type SignedCheckpoint } from '../../../core/log/checkpoint.ts'
import { sameBytes } from '../../../core/log/bytes.ts'
import { eventLeaf } from '../../../core/log/merkle.ts'
import { isAccepted } from '../../../core/operations/keys.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import type { CopiedIn } from '../../../engine/integrity/copy-log.ts'
import { sha256 } from '../../../engine/sha256.ts'
import type { CheckpointStore } from '../../../ports/checkpoints.ts'
import type { TargetContent, LogDraft } from '../../../ports/log-target.ts'
import type { IdentityDescription } from '../../../ports/signer.ts'
import { parseReason } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { checkpointsAt, explained, Interruption, inUse, takeIn } from '../copied-file.ts'
import type { CopyTarget } from '../dependencies.ts'
import { Failure } from '../failure.ts'
import { exists } from '../exporting.ts'
import { execute, recordAccess } from '../store.ts'
import { good, warning } from '../table.ts'
import { details } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Verifies a backup and puts it in the place of the log of this home, while no service runs. A log that is there is ' +
        'kept under another name. A backup that lacks events known here is refused unless --accept-loss says otherwise; ' +
        'the loss is recorded in the log, and the kill switch is raised to 2 (exits only).',
    )
    .argument('<file>', 'a file that "svc backup" has written; - is standard input')
    .option('--checkpoint <file|url>', 'also compare with a checkpoint that was kept elsewhere')
    .option('--accept-loss', 'restore it although events are known here that it lacks')
    .option('--reason <text>', 'why, for the log', parseReason)
    .examples(
      'svc restore /backup/monday.jsonl.gz',
      'svc restore monday.jsonl.gz --checkpoint https://example.com/latest',
      'svc restore monday.jsonl.gz --accept-loss --reason "disk of the server lost"',
    )
    .runs((invocation, file: string, options: RestoreOptions) =>
      explained(file, () => restore(invocation, file, options)),
    )
}

interface RestoreOptions {
  readonly checkpoint?: string
  readonly acceptLoss?: true
  readonly reason?: string
}

const restore = async (
  invocation: Invocation,
  file: string,
  { checkpoint, acceptLoss, reason }: RestoreOptions,
): Promise<Answer> => {
  const { clock } = invocation
  const elsewhere = checkpoint === undefined ? [] : await checkpointsAt(checkpoint)
  const target = await invocation.copyTarget(null)
  const service = await invocation.findService()
  if (service !== null) throw inUse(`the service of this home is running at ${service.baseUrl}`)
  const found = await target.look()
  const identity = await usableIdentity(invocation)
  const { checkpoints } = target
  if (checkpoints === null) throw new Error('the store of a home has a place for checkpoints')
  const known = [...(await checkpoints.read('all')).notes, ...elsewhere]
  const at = isoNow(clock)

  // Held to the end: once the copy is complete, it is installed and recorded without interruption.
  using interruption = new Interruption()
  const draft = await target.draft({ replace: true, at })
  try {
    const copied = await takeIn(invocation, draft, file, { label: 'restoring', interruption })
    const { checkpoint: note } = copied
    if (note === null) throw noBackup(file)
    await assertOurs(invocation, target, identity, copied, note)
    const loss = await lossOf(draft, copied, known, found)
    if (loss !== null && acceptLoss !== true) throw older(file, copied, loss)
    const apart = invocation.checkpointsIn(`${checkpoints.location}.restored`)
    // An earlier restore was interrupted after it had installed a log, which this restore replaces. That log cannot
    // show what is missing.
    const wasCutOff = await exists(apart.location)
    // The events stored after the backup are known only if the replaced log can be read.
    const isComplete = loss === null && found.status === 'log' && !wasCutOff
    const record = {
      reason: reason ?? `restored ${basename(file)}`,
      checkpoint_size: loss?.size ?? 0,
      checkpoint_head: loss?.head ?? '',
    }
    // The usual checkpoints stay in place until the restore is recorded: a start before that finds none that the log
    // fulfils.
    const beginning = isComplete ? checkpoints : apart
    if (!isComplete) await rm(apart.location, { force: true })
    await beginning.append(note.note)
    const { replaced } = await draft.install()
    const killSwitch = await recordIn(invocation, target, beginning, isComplete ? null : record)
    const setAside = isComplete ? null : await exchange(checkpoints, beginning, at)
    return answerOf({ file, copied, loss, replaced, setAside, killSwitch })
  } finally {
    await draft.discard()
  }
}

/** Opened before anything is changed, because the restore must be recorded with it. */
const usableIdentity = async ({ identity }: Invocation): Promise<IdentityDescription> => {
  const described = await identity.describe()
  if (described.error !== null) throw new Failure('identity.unavailable', described.error)
  if (described.present) await identity.create({ development: false })
  return described
}

const noBackup = (file: string): Failure =>
  new Failure('backup.damaged', `${file} is an export: it holds no checkpoint, so a cut end would not show`, {
    advice: 'Restore a file of "svc backup". "svc import" takes exports into an empty store.',
  })

/**
 * The copy is consistent by now. This checks its origin: a log is ours if it begins with the event that this node has
 * pinned, or if this node's key has signed its checkpoint. It must also accept this node's key, or nothing could be
 * written to it.
 */
const assertOurs = async (
  { home, signatures }: Invocation,
  { pinned }: CopyTarget,
  { node_id: nodeId, public_key: publicKey }: IdentityDescription,
  { keys, firstHash }: CopiedIn,
  note: SignedCheckpoint,
): Promise<void> => {
  if (pinned.here !== null && pinned.here !== firstHash)
    throw otherLog(
      'it is the backup of another log: it does not begin with the event that this node has pinned',
    )
  // Before the first identity was saved, no key can vouch for the log.
  if (!keys.isClosed) return
  if (nodeId === null || publicKey === null) {
    throw new Failure(
      'identity.unavailable',
      `there is no identity in ${home}, and the log accepts no new one`,
      {
        advice: 'Put back identity/ of the node that wrote the log, then restore.',
      },
    )
  }
  if (!isAccepted(keys, nodeId))
    throw otherLog(`the log in it does not accept the key of this node (${nodeId})`)
  if (firstHash !== null && pinned.elsewhere.includes(firstHash)) return
  const isOwn =
    note.keyName === nodeId &&
    noteFaultOf(note, publicKey, sha256) === null &&
    (await signatures.verifyAll([{ text: note.text, signatureHex: note.signature, publicKeyHex: publicKey }]))
      .length === 0
  if (!isOwn)
    throw otherLog(
      `neither has this node pinned the log in it, nor has its key (${nodeId}) signed the checkpoint`,
    )
}

const otherLog = (detail: string): Failure =>
  new Failure('backup.other_log', detail, {
    advice: 'Nothing was changed here. Restore it in the home whose identity wrote it.',
  })

/** The newest known state of the log that is missing from the copy. */
interface Loss {
  readonly size: number
  readonly head: string
  readonly recordedAt: string
}

const lossOf = async (
  draft: LogDraft,
  { head }: CopiedIn,
  known: readonly SignedCheckpoint[],
  found: TargetContent,
): Promise<Loss | null> => {
  const promises: Loss[] = known.map((note) => ({
    size: note.frontier.size,
    head: note.head,
    recordedAt: note.time,
  }))
  if (found.status === 'log')
    promises.push({ size: found.head.seq, head: found.head.hash, recordedAt: found.head.recordedAt })
  promises.sort((one, other) => other.size - one.size)
  for (const promise of promises) {
    if (promise.size > head.seq) return promise
    const [leaf] = await draft.treeNodes({ level: 0, from: promise.size - 1, to: promise.size })
    if (leaf === undefined || !sameBytes(leaf, eventLeaf(promise.head, sha256))) return promise
  }
  return null
}

const older = (file: string, { head }: CopiedIn, { size, recordedAt }: Loss): Failure => {
  const newer = `but the log had ${size} events on ${recordedAt}`
  const detail =
    size > head.seq
      ? `${file} ends with event ${head.seq} of ${head.recordedAt}, ${newer}: ${size - head.seq} would be lost`
      : `${file} holds other events than the log here, which had ${size} on ${recordedAt}: those would be lost`
  return new Failure('backup.older', detail, {
    advice: 'Look for a newer backup. To go on without these events, add --accept-loss and a --reason.',
    extras: { backup_size: head.seq, known_size: size },
  })
}

/** Records the restore in the restored log. Returns the level of the kill switch. */
const recordIn = async (
  invocation: Invocation,
  target: CopyTarget,
  checkpoints: CheckpointStore,
  restored: {
    readonly reason: string
    readonly checkpoint_size: number
    readonly checkpoint_head: string
  } | null,
): Promise<number> => {
  await using session = await target.openSession(checkpoints)
  const engine = await session.openEngine()
  if (restored !== null)
    await execute(engine, { kind: 'accept-restore', restore: { ...restored, accepted_by: engine.nodeId } })
  await recordAccess(engine, invocation, 'restore')
  await session.pinLog()
  return engine.state.trading.killSwitch.level
}

/**
 * Replaces the checkpoints. Called only after the loss is recorded in the log: a start before that finds checkpoints
 * that the log does not fulfil, and locks itself.
 * Returns the location of the old checkpoints.
 */
const exchange = async (
  checkpoints: CheckpointStore,
  beginning: CheckpointStore,
  at: string,
): Promise<string | null> => {
  const { notes } = await beginning.read('all')
  const movedTo = await checkpoints.setAside(at)
  for (const { note } of notes) await checkpoints.append(note)
  await rm(beginning.location, { force: true })
  return movedTo
}

interface Restored {
  readonly file: string
  readonly copied: CopiedIn
  readonly loss: Loss | null
  readonly replaced: string | null
  readonly setAside: string | null
  readonly killSwitch: number
}

const answerOf = ({ file, copied, loss, replaced, setAside, killSwitch }: Restored): Answer => {
  const { seq, hash, recordedAt } = copied.head
  const document = {
    restored: file,
    events: seq,
    head_hash: hash,
    head_recorded_at: recordedAt,
    known_size: loss?.size ?? null,
    old_log: replaced,
    old_checkpoints: setAside,
    kill_switch: killSwitch,
  }
  const next = `level ${killSwitch}: compare the account, then "svc kill-switch reset"`
  const text = details(document, [
    ['Restored', good(`${seq} events from ${file}, verified`)],
    'head_hash',
    'head_recorded_at',
    ['Lost', loss && warning(`what followed; the log had ${loss.size} events on ${loss.recordedAt}`)],
    ['Old log', replaced],
    ['Old checkpoints', setAside],
    ['Kill switch', killSwitch === 0 ? 'level 0' : warning(next)],
  ])
  return { document, text }
}
