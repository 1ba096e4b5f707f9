import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState } from 'react'
import { api, ApiError, dataOf, type FieldError } from '../../api/client.ts'
import type { Configuration, ConfigurationSchema, Payload } from '../../api/types.ts'
import { valueAt, type Setting } from './settings.ts'

/** Entries that are not saved yet, by key. Null resets a setting to its default. */
export type Draft = ReadonlyMap<string, Entry>

export interface Entry {
  /** The text that was typed. */
  readonly text: string
  /** The value that would be sent. */
  readonly value: unknown
}

export const REDACTED = '***REDACTED***'

/** The text of a value in its input. */
export const textOfValue = ({ type }: Pick<Setting, 'type'>, value: unknown): string => {
  if (value === null || value === undefined) return ''
  if ((type === 'texts' || type === 'numbers') && Array.isArray(value)) return value.join(', ')
  if (type === 'json') return JSON.stringify(value, null, 2)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Parses the value of a text. A text that cannot be parsed is sent unchanged, and the service reports the error. */
export const valueOfText = ({ type }: Pick<Setting, 'type'>, text: string): unknown => {
  const trimmed = text.trim()
  switch (type) {
    case 'flag':
      return trimmed === 'true'
    case 'maybe-flag':
      return trimmed === '' ? null : trimmed === 'true'
    case 'number':
      return trimmed === '' ? null : numberOf(trimmed)
    case 'texts':
      return listOf(trimmed)
    case 'numbers':
      return trimmed === '' ? null : listOf(trimmed).map(numberOf)
    case 'json':
      return trimmed === '' ? null : jsonOf(trimmed)
    default:
      return trimmed
  }
}

/** The draft with this entry, unless it equals the current value. */
export const withEntry = (
  draft: Draft,
  { key, entry, current }: { readonly key: string; readonly entry: Entry; readonly current: unknown },
): Draft => {
  const next = new Map(draft)
  if (isSame(entry.value, current)) next.delete(key)
  else next.set(key, entry)
  return next
}

/** The body of a change: nested, with the entered settings only. */
export const bodyOf = (draft: Draft): Payload => {
  const body: Record<string, unknown> = {}
  for (const [key, { value }] of draft) {
    const segments = key.split('.')
    const last = segments.pop() ?? key
    let place = body
    for (const segment of segments) place = (place[segment] ??= {}) as Record<string, unknown>
    place[last] = value
  }
  return body
}

export interface Difference {
  readonly setting: Setting
  readonly before: unknown
  readonly after: unknown
}

/** All effective changes. A preset changes more than its own key. */
export const differencesOf = (
  settings: readonly Setting[],
  before: Configuration,
  after: Configuration,
): readonly Difference[] =>
  settings
    .map((setting) => ({
      setting,
      before: valueAt(before, setting.key),
      after: valueAt(after, setting.key),
    }))
    .filter((difference) => !isSame(difference.before, difference.after))

/** The errors of a key or of a key below it, without the prefix `body` that all of them have. */
export const errorsAt = (errors: readonly FieldError[], key: string): string | undefined => {
  const found = errors.filter(({ loc }) => {
    const path = loc.slice(1).join('.')
    return path === key || path.startsWith(`${key}.`)
  })
  return found.length === 0 ? undefined : found.map(({ msg }) => msg).join('; ')
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const listOf = (text: string): readonly string[] =>
  text
    .split(/[,\n]/)
    .map((word) => word.trim())
    .filter((word) => word !== '')

const numberOf = (text: string): number | string => (Number.isFinite(Number(text)) ? Number(text) : text)

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

export interface Check {
  readonly status: 'unchanged' | 'checking' | 'valid' | 'invalid' | 'failed'
  readonly errors: readonly FieldError[]
  /** The effective configuration; null unless valid. */
  readonly after: Configuration | null
  readonly error: unknown
}

const TYPING_MS = 350

/** Validates the draft while it is typed. Nothing is written. */
export const useCheck = (draft: Draft): Check => {
  const body = JSON.stringify(bodyOf(draft))
  const settled = useSettled(body)
  const isEmpty = draft.size === 0
  const query = useQuery({
    queryKey: ['config', 'check', settled] as const,
    queryFn: async ({ signal }): Promise<{ config: Configuration | null; errors: readonly FieldError[] }> => {
      try {
        const { config } = await dataOf(
          api.POST('/config/validate', { body: JSON.parse(settled) as Payload, signal }),
        )
        return { config, errors: [] }
      } catch (error) {
        // An invalid draft is a result, not a failure.
        if (error instanceof ApiError && error.fieldErrors.length > 0) {
          return { config: null, errors: error.fieldErrors }
        }
        throw error
      }
    },
    enabled: !isEmpty,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  const errors = query.data?.errors ?? []
  const common = { errors, after: query.data?.config ?? null, error: query.error }
  if (isEmpty) return { status: 'unchanged', errors: [], after: null, error: null }
  if (query.isError) return { ...common, status: 'failed' }
  if (settled !== body || query.isPlaceholderData || query.data === undefined) {
    return { ...common, status: 'checking' }
  }
  return { ...common, status: errors.length > 0 ? 'invalid' : 'valid' }
}

/** The value after it has not changed for a moment. */
const useSettled = (value: string): string => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

/** State of the whole form, for its fields. */
export interface FormState {
  readonly configuration: Configuration
  readonly schema: ConfigurationSchema
  readonly draft: Draft
  readonly errors: readonly FieldError[]
  /** The changes that the draft would make; empty while they are not known. */
  readonly differences: readonly Difference[]
  readonly enter: (setting: Setting, text: string) => void
  /** Resets a setting to the default or the preset. */
  readonly reset: (setting: Setting) => void
}

export const FormContext = createContext<FormState | null>(null)

export const useForm = (): FormState => {
  const form = useContext(FormContext)
  if (form === null) throw new Error('no form around this field')
  return form
}

export const needsRestart = ({ restart_keys }: ConfigurationSchema, key: string): boolean =>
  isAmong(restart_keys, key)

export const waitsForRestart = ({ waiting_for_restart }: ConfigurationSchema, key: string): boolean =>
  isAmong(waiting_for_restart, key)

/** Values with which the service runs until a restart, of the keys of this setting that wait for one. */
export const runningValues = (
  { running }: ConfigurationSchema,
  key: string,
): readonly (readonly [key: string, value: unknown])[] =>
  Object.entries(running).filter(([name]) => isAmong([name], key))

export const isFixed = ({ set_by_environment }: ConfigurationSchema, key: string): boolean =>
  isAmong(set_by_environment, key)

/** True if the key or a key below it is listed. A group of settings in one value has keys below its own. */
const isAmong = (keys: readonly string[], key: string): boolean =>
  keys.some((one) => one === key || one.startsWith(`${key}.`))

export const variableOf = (key: string): string => `SVC_${key.replaceAll('.', '__').toUpperCase()}`
