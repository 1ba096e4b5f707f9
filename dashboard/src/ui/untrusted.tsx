/** Characters that turn the direction of text or hide it; shown as what they are. */
const TRICKS = /[\u0000-\u0008\u000b-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Text that a stranger wrote: escaped (as all text here), isolated from the direction of the text around it, and never
 * longer than its box.
 */
export const Untrusted = ({ text, lines = 3 }: { readonly text: string; readonly lines?: 1 | 3 | 'all' }) => (
  <bdi
    title={lines === 'all' ? undefined : text.slice(0, 500)}
    className={
      lines === 'all'
        ? 'break-words whitespace-pre-wrap'
        : lines === 1
          ? 'block truncate'
          : 'line-clamp-3 break-words'
    }
  >
    {text.replaceAll(TRICKS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}
  </bdi>
)
