import { useQuery } from '@tanstack/react-query'
import { readEvents } from '../../api/queries.ts'
import type { EventRecord } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { bytesOfHex, canonicalJson, publicKeyOf, verifyEd25519 } from '../../proof/signatures.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { formatCount } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'

const WORDS: Readonly<Record<Verdict, readonly [tone: Tone, word: string]>> = {
  pass: ['good', 'valid'],
  fail: ['bad', 'invalid'],
  unknown: ['neutral', 'not checked'],
}

/** Position of an event in the chain, verified in this browser. */
export const ChainProof = ({
  record,
  inAudit = false,
}: {
  readonly record: EventRecord
  /** Already on the audit page: no link to it. */
  readonly inAudit?: boolean
}) => {
  const proof = useQuery({
    queryKey: ['proof', record.id],
    queryFn: () => proveRecord(record),
    staleTime: Infinity,
  })
  return (
    <Section title="Chain proof" hint="checked in this browser">
      <QueryContent query={proof} what="the proof">
        {(findings) => <Findings findings={findings} />}
      </QueryContent>
      <Facts
        facts={{
          Event: `no. ${formatCount(record.seq)} of the log`,
          Recorded: <Time at={record.recorded_at} as="full" />,
          Hash: <Id id={record.hash} whole />,
          'Previous hash':
            record.prev_hash === '' ? 'none: the first event' : <Id id={record.prev_hash} whole />,
          Signature: record.signature === null ? 'none' : <Id id={record.signature} whole />,
          Signer: record.signer === null ? 'none' : <Id id={record.signer} whole />,
        }}
      />
      {inAudit ? null : (
        <PageLink to="/audit" search={{ event: record.id }}>
          Open in the audit
        </PageLink>
      )}
    </Section>
  )
}

const Findings = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <ul className="grid gap-1 text-[13px]">
    {findings.map(({ what, verdict, text }) => (
      <li
        key={what}
        className="grid grid-cols-[9.5rem_1fr] items-baseline gap-2 max-sm:grid-cols-1 max-sm:gap-0"
      >
        <span>
          <Badge tone={WORDS[verdict][0]}>
            {what}: {WORDS[verdict][1]}
          </Badge>
        </span>
        <span className="text-muted">{text}</span>
      </li>
    ))}
  </ul>
)

type Verdict = 'pass' | 'fail' | 'unknown'

interface Finding {
  readonly what: 'Hash' | 'Link' | 'Signature'
  readonly verdict: Verdict
  readonly text: string
}

/** Recomputed in the browser from the record itself, independent of the service. */
const proveRecord = async (record: EventRecord): Promise<readonly Finding[]> => {
  // Browsers offer Web Crypto only over HTTPS and on localhost.
  if (!isSecureContext) {
    return [{ what: 'Hash', verdict: 'unknown', text: 'The browser computes hashes only over HTTPS.' }]
  }
  return Promise.all([proveHash(record), proveLink(record), proveSignature(record)])
}

const proveHash = async (record: EventRecord): Promise<Finding> => {
  const parts = [
    record.prev_hash,
    record.ts,
    record.id,
    record.type,
    record.schema_version,
    record.source ?? '',
    record.trace_id ?? '',
    record.dedupe_key ?? '',
    canonicalJson(record.payload),
  ]
  const isRight = (await sha256Hex(parts.join('|'))) === record.hash
  return {
    what: 'Hash',
    verdict: isRight ? 'pass' : 'fail',
    text: isRight
      ? 'SHA-256 of the content gives the stored hash.'
      : 'SHA-256 of the content gives another hash: it was changed.',
  }
}

const proveLink = async ({ seq, prev_hash }: EventRecord): Promise<Finding> => {
  if (seq === 1) {
    const isFirst = prev_hash === ''
    return { what: 'Link', verdict: isFirst ? 'pass' : 'fail', text: 'The first event of the log.' }
  }
  const { items } = await readEvents({ after_seq: seq - 2, before_seq: seq, limit: 1 })
  const isRight = items[0]?.hash === prev_hash
  return {
    what: 'Link',
    verdict: isRight ? 'pass' : 'fail',
    text: isRight
      ? `Names the hash of event ${seq - 1} before it.`
      : `Does not name the hash of event ${seq - 1}.`,
  }
}

const proveSignature = async ({ signature, signer, payload }: EventRecord): Promise<Finding> => {
  if (signature === null || signer === null) return finding('fail', 'Not signed.')
  const publicKey = await publicKeyOf(signer)
  if (publicKey === null) return finding('unknown', `No public key of ${signer} in the log.`)
  const text = canonicalJson(payload)
  const isRight = await verifyEd25519({ publicKeyHex: publicKey, signature: bytesOfHex(signature), text })
  if (isRight === null) return finding('unknown', 'This browser does not support Ed25519.')
  return isRight
    ? finding('pass', `Ed25519 signature of ${signer} over the payload.`)
    : finding('fail', `The signature is not of ${signer} over this payload.`)
}

const finding = (verdict: Verdict, text: string): Finding => ({ what: 'Signature', verdict, text })

const sha256Hex = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
