import { hexFromBytes } from '../../../core/log/bytes.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import type { CopiedIn } from '../../../engine/integrity/copy-log.ts'
import { TargetTakenError } from '../../../ports/log-target.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { checkpointsAt, explained, Interruption, inUse, takeIn } from '../copied-file.ts'
import type { CopyTarget } from '../dependencies.ts'
import { Failure } from '../failure.ts'
import { good, warning } from '../table.ts'
import { details } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Copies a log into an empty store, as it is: the same hashes, signatures and tree. It is verified on the way, and ' +
        'appears as a whole or not at all. So a log moves from SQLite to PostgreSQL and back.',
    )
    .argument('<file>', 'of "svc export events" or "svc backup"; - is standard input')
    .option('--into <url|file>', 'this database or file (default: the store of this home)')
    .option('--checkpoint <file|url>', 'also compare with a checkpoint that was kept elsewhere')
    .examples(
      'svc import events.jsonl --into postgres://svc@db.example.com/signals',
      'svc export events | svc import - --into copy.db',
      'svc import events.jsonl --checkpoint data/events.db.checkpoints',
    )
    .runs((invocation, file: string, options: ImportOptions) =>
      explained(file, () => importLog(invocation, file, options)),
    )
}

interface ImportOptions {
  readonly into?: string
  readonly checkpoint?: string
}

const importLog = async (
  invocation: Invocation,
  file: string,
  { into, checkpoint }: ImportOptions,
): Promise<Answer> => {
  const { findService, clock } = invocation
  const notes = checkpoint === undefined ? [] : await checkpointsAt(checkpoint)
  const isHere = into === undefined
  const service = isHere ? await findService() : null
  if (service !== null) throw inUse(`the service of this home is running at ${service.baseUrl}`)
  const target = await invocation.copyTarget(into ?? null)
  const kept = (await target.checkpoints?.read('newest'))?.notes.at(-1)
  // An empty store with checkpoints has lost its events: that is a loss to restore, not a place for another log.
  if (kept !== undefined)
    throw new TargetTakenError(`${target.location} has checkpoints of a log of ${kept.frontier.size} events`)
  using interruption = new Interruption()
  const draft = await target.draft({ replace: false, at: isoNow(clock) })
  try {
    const copied = await takeIn(invocation, draft, file, { label: 'importing', interruption, notes })
    if (isHere) assertPinned(target, copied)
    await draft.install()
    const isSigned = await keepCheckpoint(target, copied, isHere)
    return answerOf(file, target, copied, isSigned || !isHere)
  } finally {
    await draft.discard()
  }
}

const assertPinned = ({ pinned, location }: CopyTarget, { firstHash }: CopiedIn): void => {
  if (pinned.here === null || pinned.here === firstHash) return
  throw new Failure('backup.other_log', `this node has pinned another log at ${location}`, {
    advice: 'identity/logs.json says which. Use another store for this log.',
  })
}

/** The log may say that checkpoints are kept, so the store of a home needs one from the start. */
const keepCheckpoint = async (
  { checkpoints, signCheckpoint }: CopyTarget,
  { checkpoint }: CopiedIn,
  isHere: boolean,
): Promise<boolean> => {
  if (checkpoint !== null) await checkpoints?.append(checkpoint.note)
  return checkpoint !== null || (isHere && (await signCheckpoint()))
}

const answerOf = (file: string, target: CopyTarget, copied: CopiedIn, isSigned: boolean): Answer => {
  const { seq: events, hash: head_hash } = copied.head
  const tree_root = hexFromBytes(copied.root)
  const document = { imported: file, into: target.location, events, head_hash, tree_root }
  const text = details(document, [
    ['Imported', good(`${events} events from ${file} into ${target.location}, verified`)],
    'head_hash',
    'tree_root',
    ['Checkpoint', isSigned ? null : warning(UNSIGNED)],
  ])
  return { document: { ...document, checkpoint_signed: isSigned }, text }
}

const UNSIGNED = 'none could be signed: the service will not start trading until there is one'
