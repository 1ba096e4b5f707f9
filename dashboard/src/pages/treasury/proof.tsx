import { Facts, Id } from '../../ui/id.tsx'
import { SignatureBadge, usePublicKey } from './signature-badge.tsx'
import { commandFor, signedText, type Signed } from './signatures.ts'

/** Everything that somebody needs to check a signature without this page. */
export const Proof = ({ signed }: { readonly signed: Signed }) => {
  const { key } = usePublicKey(signed.node_id)
  return (
    <section className="grid gap-3">
      <h3 className="flex items-center gap-2 text-sm font-semibold">
        Proof <SignatureBadge signed={signed} />
      </h3>
      <Facts
        facts={[
          ['Signed by', <Id key="node" id={signed.node_id} whole />],
          ['Public key', key === undefined ? 'not in the log' : <Id key="key" id={key} whole />],
          ['Signature', <Id key="signature" id={signed.signature_b64} whole />],
        ]}
      />
      <Text label="What was signed" text={signedText(signed)} />
      {key === undefined ? null : <Text label="Check it yourself" text={commandFor(signed, key)} />}
    </section>
  )
}

const Text = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div className="grid gap-1">
    <h4 className="text-xs font-medium text-muted">{label}</h4>
    <pre
      tabIndex={0}
      aria-label={label}
      className="max-h-56 overflow-auto rounded-md bg-raised p-3 text-xs break-all whitespace-pre-wrap"
    >
      <bdi>{text}</bdi>
    </pre>
  </div>
)
