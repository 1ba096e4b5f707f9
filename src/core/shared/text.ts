import { z } from 'zod'
import { faultOf } from './faults.ts'

/** Text that may stand in a hashed field of an event: 1..256 characters, no `|`, no control character. */
export const plainText = (lengthMax = 256) => barless(lengthMax).min(1)

/** The same, trimmed, and it may be blank: then it is empty. */
export const trimmedText = (lengthMax = 256) => z.string().trim().pipe(barless(lengthMax))

const barless = (lengthMax: number) =>
  z
    .string()
    .max(lengthMax)
    .regex(PLAIN, { error: 'must not contain | or control characters' })
    .refine((text) => text.isWellFormed(), faultOf('unicode_invalid', 'must be well-formed Unicode'))

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

/** What is not plain cannot be the id of anything stored, and is not looked for. */
export const isPlainText = (text: string): boolean => PLAIN_TEXT.safeParse(text).success

// oxlint-disable-next-line no-control-regex -- control characters are exactly what may not be there
const PLAIN = /^[^|\u0000-\u001f\u007f]*$/

const PLAIN_TEXT = plainText()

/** An absolute address of the web without a user in it: a password there would be stored for ever. */
export const httpUrl = () =>
  z
    .string()
    .max(2048)
    .refine(isHttpUrl, faultOf('url_invalid', 'must be an absolute http or https URL without user info'))
    .meta({ format: 'uri' })

const isHttpUrl = (text: string): boolean => FORM.test(text) && URL.canParse(text)

/** The parser alone would forgive blanks, control characters, backslashes and a missing slash. */
// oxlint-disable-next-line no-control-regex -- control characters are exactly what may not be there
const FORM = /^https?:\/\/[^\s\u0000-\u001f\u007f\\/?#@]+(?:[/?#][^\s\u0000-\u001f\u007f\\]*)?$/i
