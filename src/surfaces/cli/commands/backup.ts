import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import type { SignedCheckpoint } from '../../../core/log/checkpoint.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { backupTexts } from '../../../engine/integrity/backup-file.ts'
import { verifyExport } from '../../../engine/integrity/offline.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { copyLines, explained, Interruption } from '../copied-file.ts'
import type { StoreSession } from '../dependencies.ts'
import { exists, fileExists, writeWholeFile } from '../exporting.ts'
import { Failure, UsageError } from '../failure.ts'
import { openExisting } from '../store.ts'
import { good, type Row } from '../table.ts'
import { details } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Writes the whole log and a signed checkpoint of it to one new file, while the service may go on. The file is read ' +
        'again and verified before the command succeeds; otherwise nothing is left behind. It does not hold identity/, ' +
        'config/ and the vault: keep copies of those apart from it.',
    )
    .argument('<file>', 'a new file; a name that ends in .gz is compressed')
    .examples('svc backup /backup/monday.jsonl.gz', 'svc integrity --file /backup/monday.jsonl.gz')
    .runs((invocation, file: string) => explained(file, () => backup(invocation, file)))
}

const backup = async (invocation: Invocation, file: string): Promise<Answer> => {
  if (file === '-') {
    throw new UsageError(
      'a backup is read again before it counts, so it needs a file; "svc export events" writes to standard output',
    )
  }
  if (await exists(file)) throw fileExists(file)
  using interruption = new Interruption()
  await using session = await openExisting(invocation)
  const checkpoint = await checkpointOfNow(invocation, session)
  await writeWholeFile(file, { force: false }, async (write, draftPath) => {
    await writeBackup(invocation, session, checkpoint, {
      write,
      isZipped: file.endsWith('.gz'),
      interruption,
    })
    await verify(invocation, draftPath, interruption)
  }).catch((error: unknown) => {
    throw isDiskError(error) ? notWritten(file, error) : error
  })
  const { size: bytes } = await stat(file)
  const { frontier, head, time } = checkpoint
  const document = { output: file, events: frontier.size, head_hash: head, checkpoint_time: time, bytes }
  const written: Row = ['Backup', good(`${file}, written and verified`)]
  return { document, text: details(document, [written, 'events', 'head_hash', 'checkpoint_time', 'bytes']) }
}

/**
 * A checkpoint of at least everything that is stored now. If the key can be opened, one is signed at once. Otherwise a
 * running service signs one within `store.checkpoint_every_seconds`.
 */
const checkpointOfNow = async (
  { identity, environment, configuration, findService }: Invocation,
  { log, checkpoints, signCheckpoint }: StoreSession,
): Promise<SignedCheckpoint> => {
  if (checkpoints === null) throw unavailable('a log in memory keeps no checkpoints')
  const { seq } = await log.head()
  if (seq === 0) throw unavailable('there is no event yet')
  const { present, encrypted } = await identity.describe()
  const canSign = encrypted === false || (present && (environment['SVC_MASTER_PASSWORD'] ?? '') !== '')
  const opened = await configuration.open()
  const everySeconds = opened.status === 'opened' ? opened.store.current().store.checkpoint_every_seconds : 0
  const waitMs = (await findService()) === null ? 0 : everySeconds * 1000 + GRACE_MS
  const giveUpAt = performance.now() + waitMs
  for (;;) {
    const newest = (await checkpoints.read('newest')).notes.at(-1)
    if (newest !== undefined && newest.frontier.size >= seq) return newest
    if (canSign) {
      const step = await signCheckpoint()
      if (step.status === 'stopped') throw unavailable(`no checkpoint can be signed: ${step.fault.detail}`)
      if (step.status !== 'idle') continue
    }
    if (performance.now() > giveUpAt) {
      throw unavailable(
        `there is no signed checkpoint of all ${seq} events, and this command cannot sign one`,
      )
    }
    await sleep(LOOK_EVERY_MS)
  }
}

/** Additional time for a checkpoint that is being signed. */
const GRACE_MS = 5000
const LOOK_EVERY_MS = 100

interface BackupOutput {
  readonly write: (text: string | Uint8Array) => Promise<void>
  readonly isZipped: boolean
  readonly interruption: Interruption
}

const writeBackup = async (
  { clock, progress }: Invocation,
  { log }: StoreSession,
  checkpoint: SignedCheckpoint,
  { write, isZipped, interruption }: BackupOutput,
): Promise<void> => {
  const bar = progress('backing up')
  let pending = ''
  // A gzip file may consist of any number of compressed pieces, one after the other.
  const flush = async (): Promise<void> => {
    if (pending !== '') await write(isZipped ? await gzip(pending) : pending)
    pending = ''
  }
  try {
    const madeAt = isoNow(clock)
    for await (const { text, written } of backupTexts(log, checkpoint, madeAt)) {
      interruption.signal.throwIfAborted()
      pending += text
      if (pending.length >= PIECE_CHARACTERS) await flush()
      bar.update(written, checkpoint.frontier.size)
    }
    await flush()
  } finally {
    bar.end()
  }
}

const gzip = promisify<string, Buffer>(gzipCallback)

/** Size that compresses well and keeps memory flat. */
const PIECE_CHARACTERS = 512 * 1024

/** Verifies the file on the disk, not the data that should have been written. */
const verify = async (
  { signatures, clock, progress, stdin }: Invocation,
  draftPath: string,
  interruption: Interruption,
): Promise<void> => {
  const bar = progress('verifying')
  const report = await verifyExport(copyLines(draftPath, stdin, bar.update, interruption), {
    signatures,
    clock,
  }).finally(bar.end)
  if (report.ok) return
  throw new Failure('backup.damaged', `the log cannot be backed up as it is: ${report.detail}`, {
    advice:
      'Nothing was written. "svc integrity" shows what is wrong; "svc export events" copies events as they are.',
  })
}

const isDiskError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  'code' in error &&
  ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS', 'EACCES', 'EPERM'].includes(String(error.code))

const notWritten = (file: string, error: Error): Failure =>
  new Failure('backup.unavailable', `cannot write ${file}: ${error.message}`, {
    advice: 'Nothing was left behind. Use a disk with enough space that you may write to.',
  })

const unavailable = (detail: string): Failure =>
  new Failure('backup.unavailable', detail, {
    advice: 'Set SVC_MASTER_PASSWORD to sign with the key of this home, or run it while the service runs.',
  })
