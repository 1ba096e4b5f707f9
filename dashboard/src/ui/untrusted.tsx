/** Characters that turn the direction of text or cannot be seen; line breaks and joiners of emoji may stay. */
const TRICKS = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu

/**
 * Text from outside: escaped like all text here, isolated from the direction of the text around it, and bounded.
 */
export const Untrusted = ({ text, lines = 3 }: { readonly text: string; readonly lines?: 1 | 3 | 'all' }) => (
  <bdi
    title={lines === 'all' ? undefined : text.slice(0, 500)}
    className={
      lines === 'all'
        ? 'wrap-anywhere whitespace-pre-wrap'
        : lines === 1
          ? 'block truncate'
          : 'line-clamp-3 wrap-anywhere'
    }
  >
    {text.replaceAll(
      TRICKS,
      (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
    )}
  </bdi>
)

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
