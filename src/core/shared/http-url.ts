import { z } from 'zod'
import { faultOf } from './faults.ts'

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
