import { z } from 'zod'
import { faultOf } from './faults.ts'

/** Text that may stand in a hashed field of an event: 1..256 characters, no `|`, no control character. */
export const plainText = (lengthMax = 256) => barless(lengthMax).min(1)

/** Like `plainText`, but trimmed first, and the empty text is allowed. */
export const trimmedText = (lengthMax = 256) => z.string().trim().pipe(barless(lengthMax))

const isWellFormed = (text: string): boolean => text.isWellFormed()

const UNICODE_INVALID = faultOf('unicode_invalid', 'must be well-formed Unicode')

const barless = (lengthMax: number) =>
  z
    .string()
    .max(lengthMax)
    .regex(PLAIN, { error: 'must not contain | or control characters' })
    .refine(isWellFormed, UNICODE_INVALID)

/**
 * A name that is shown to people. It has no blanks around it, no invisible characters, and none that change the
 * direction of the text, so that different names do not look the same. Only new names are checked: stored names stay
 * readable.
 */
export const displayName = (lengthMax: number) =>
  z.string().min(1).max(lengthMax).refine(isWellFormed, UNICODE_INVALID).superRefine(nameFaults)

/** A name that also stands in a hashed field of an event. */
export const plainName = (lengthMax: number) => plainText(lengthMax).superRefine(nameFaults)

const nameFaults = (name: string, context: { addIssue(issue: NameFault): void }): void => {
  const [hidden] = HIDDEN.exec(name) ?? []
  if (hidden !== undefined) context.addIssue(hiddenFault(hidden))
  if (name.trim() !== name) context.addIssue(BLANK_AROUND)
}

type NameFault = {
  readonly code: 'custom'
  readonly message: string
  readonly params: { readonly type: 'string_pattern' }
}

const hiddenFault = (character: string): NameFault => ({
  code: 'custom',
  message: `must not contain ${codePointOf(character)}, which is invisible or changes the direction of text`,
  params: { type: 'string_pattern' },
})

const BLANK_AROUND: NameFault = {
  code: 'custom',
  message: 'must not begin or end with a blank',
  params: { type: 'string_pattern' },
}

const codePointOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** The name without invisible characters. */
export const withoutHidden = (name: string): string => name.replaceAll(ALL_HIDDEN, '')

/** Control and format characters, line separators, what fonts ignore, and the empty pattern of Braille. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

const ALL_HIDDEN = new RegExp(HIDDEN, 'gu')

/**
 * A list of texts inside a payload. It reports the first faults only: the library would collect one per element, and a
 * payload holds tens of thousands.
 */
export const textList = () =>
  z
    .array(z.unknown())
    .superRefine((items, context) => {
      let faults = 0
      for (const [index, item] of items.entries()) {
        if (typeof item === 'string') continue
        context.addIssue({ code: 'custom', path: [index], ...NOT_TEXT })
        faults += 1
        if (faults === LIST_FAULTS_MAX) return
      }
    })
    .meta({ items: { type: 'string' } })

const LIST_FAULTS_MAX = 10

const NOT_TEXT = { message: 'must be a string', params: { type: 'string_type' } }

/** Whether the text can be the id of a stored thing. Other texts need no lookup. */
export const isPlainText = (text: string): boolean => PLAIN_TEXT.safeParse(text).success

// oxlint-disable-next-line no-control-regex -- control characters are exactly what may not be there
const PLAIN = /^[^|\u0000-\u001f\u007f]*$/

const PLAIN_TEXT = plainText()

/** An absolute http or https address without a user part: a password in it would be stored for ever. */
export const httpUrl = () =>
  z
    .string()
    .max(2048)
    .refine(isHttpUrl, faultOf('url_invalid', 'must be an absolute http or https URL without user info'))
    .meta({ format: 'uri' })

const isHttpUrl = (text: string): boolean => FORM.test(text) && URL.canParse(text)

/** The URL parser alone would accept blanks, control characters, backslashes and a missing slash. */
// oxlint-disable-next-line no-control-regex -- control characters are exactly what may not be there
const FORM = /^https?:\/\/[^\s\u0000-\u001f\u007f\\/?#@]+(?:[/?#][^\s\u0000-\u001f\u007f\\]*)?$/i
