import { readFile } from 'node:fs/promises'
import { parseVerifierKey, type SignedTreeHead, type VerifierKey } from '../../../core/log/proof.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { sha256 } from '../../../engine/sha256.ts'
import { verifyProof, type ProofVerdict } from '../../../engine/proofs/verify-proof.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { cannotRead, EXIT_FAILED, EXIT_OK, Failure, UsageError } from '../failure.ts'
import { bad, fields, good, quiet, type Row } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Checks a proof of "svc prove" or GET /events/{id}/proof with the public key of the log, and nothing else: no store, ' +
        'no network. Exit code 0 means that it holds, 1 that it does not or that no key was given.',
    )
    .argument('<file>', 'the proof')
    .option('--key <verifier-key>', 'the key as "svc identity show" prints it: name+hash+base64')
    .option('--key-file <file>', 'a file that holds the key')
    .examples(
      'svc verify-proof call.tlog-proof --key "$VERIFIER_KEY"',
      'svc verify-proof growth.proof --key-file log.pub --json',
    )
    .runs(checkProof)
}

interface VerifyProofOptions {
  readonly key?: string
  readonly keyFile?: string
}

const checkProof = async (
  { signatures }: Invocation,
  file: string,
  options: VerifyProofOptions,
): Promise<Answer> => {
  const key = await keyFrom(options)
  const verdict = await verifyProof(await proofText(file), key, signatures)
  return {
    document: documentOf(verdict, key),
    text: fields(rowsOf(verdict, key)),
    exitCode: verdict.status === 'refused' ? EXIT_FAILED : EXIT_OK,
  }
}

const keyFrom = async ({ key, keyFile }: VerifyProofOptions): Promise<VerifierKey | null> => {
  if (key !== undefined && keyFile !== undefined)
    throw new UsageError('--key and --key-file exclude each other')
  const text = keyFile === undefined ? key : await proofText(keyFile)
  if (text === undefined) return null
  const parsed = parseVerifierKey(text, sha256)
  if (parsed === null)
    throw new UsageError(
      'the key must be name+hash+base64, as "svc identity show" prints it; this one is damaged',
    )
  return parsed
}

/** Several times the largest event. */
const FILE_BYTES_MAX = 4 * 1024 * 1024

const proofText = async (file: string): Promise<string> => {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw cannotRead(file, error)
  })
  if (text.length > FILE_BYTES_MAX) throw new Failure('file.unreadable', `${file} is too large for a proof`)
  return text
}

const documentOf = (verdict: ProofVerdict, key: VerifierKey | null): JsonObject => {
  const signed_by = key?.name ?? null
  switch (verdict.status) {
    case 'refused':
      return { ok: false, reason: verdict.reason, detail: verdict.detail }
    case 'consistent':
      return {
        ok: true,
        kind: 'consistency',
        signed_by,
        older: headView(verdict.older),
        newer: headView(verdict.newer),
      }
    case 'included': {
      const { seq, hash, treeHead } = verdict
      const { id, type, ts, source, traceId, dedupeKey, payload } = verdict.event
      const event = {
        seq,
        id,
        type,
        ts,
        source,
        trace_id: traceId,
        dedupe_key: dedupeKey,
        payload: jsonOf(payload),
        hash,
      }
      return { ok: true, kind: 'inclusion', signed_by, checkpoint: headView(treeHead), event }
    }
  }
}

const headView = ({ origin, size, root, time }: SignedTreeHead): JsonObject => ({
  origin,
  size,
  root: Buffer.from(root).toString('base64'),
  time,
})

const jsonOf = (payload: string): JsonObject | string => {
  try {
    return JSON.parse(payload) as JsonObject
  } catch {
    // The hashed text is shown unchanged. A proof does not show whether it should have been JSON.
    return payload
  }
}

const rowsOf = (verdict: ProofVerdict, key: VerifierKey | null): readonly Row[] => {
  switch (verdict.status) {
    case 'refused':
      return [
        ['Proof', bad(verdict.reason === 'key_missing' ? 'not verified' : 'does not hold')],
        ['Why', verdict.detail],
        [
          'Next',
          verdict.reason === 'key_missing'
            ? 'ask whoever runs the log for its verifier key, and name it with --key'
            : null,
        ],
      ]
    case 'consistent':
      return [
        ['Proof', good('holds: nothing was changed or removed in between')],
        ['Earlier', `${verdict.older.size} events, ${timeOf(verdict.older)}`],
        ['Later', `${verdict.newer.size} events, ${timeOf(verdict.newer)}`],
        ['Log', verdict.newer.origin],
        ['Signed by', key?.name ?? ''],
      ]
    case 'included':
      return [
        ['Proof', good('holds: the event is in the log')],
        ['Event', verdict.event.id],
        ['Type', verdict.event.type],
        ['Time', verdict.event.ts],
        ['Source', verdict.event.source ?? quiet('none')],
        ['Content', verdict.event.payload],
        ['Number', `${verdict.seq} of ${verdict.treeHead.size} events`],
        ['Stored before', timeOf(verdict.treeHead)],
        ['Log', verdict.treeHead.origin],
        ['Signed by', key?.name ?? ''],
      ]
  }
}

const timeOf = ({ time }: SignedTreeHead): string => time ?? 'at an unknown time'
