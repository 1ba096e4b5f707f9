import { Untrusted } from './untrusted.tsx'

const SHOWN_MAX = 20_000

/** A payload as it is stored. */
export const Json = ({ value }: { readonly value: unknown }) => {
  const text = JSON.stringify(value, null, 2) ?? 'null'
  return (
    <pre
      className="max-h-96 overflow-auto rounded-md bg-raised p-3 text-xs whitespace-pre-wrap"
      tabIndex={0}
      aria-label="Payload"
    >
      <Untrusted lines="all" text={text.slice(0, SHOWN_MAX)} />
      {text.length > SHOWN_MAX ? `\n… ${text.length - SHOWN_MAX} more characters` : null}
    </pre>
  )
}
