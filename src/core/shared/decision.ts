import type { RefusalCode } from './refusals.ts'
import type { NewEvent } from '../events/catalogue.ts'
import type { JsonObject } from './json.ts'

/** A "no" is a value: a stable code for machines, a line for people, and what the answer should repeat. */
export interface Refusal {
  readonly code: RefusalCode
  readonly detail: string
  readonly extras: JsonObject
}

export type Decision =
  | { readonly status: 'accepted'; readonly events: readonly NewEvent[] }
  | { readonly status: 'refused'; readonly refusal: Refusal }

export const accept = (...events: readonly NewEvent[]): Decision => ({ status: 'accepted', events })

export const refuse = (code: RefusalCode, detail: string, extras: JsonObject = {}): Decision => ({
  status: 'refused',
  refusal: { code, detail, extras },
})
