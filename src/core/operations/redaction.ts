import { findSecretSpans, type Span } from './secret-spans.ts'

export const REDACTED = '***REDACTED***'

export const REDACTION_DEPTH_MAX = 64

/** Hides known secrets, and text that looks like a secret, in text for people. */
export const redactText = (text: string, knownSecrets: readonly string[]): string =>
  redact(text, writtenForms(knownSecrets))

/**
 * Like `redactText`, for a value of any shape, as plain data that JSON can write. A member whose name indicates a
 * secret is hidden whole unless it is empty: an empty secret shows that none is set.
 */
export const redactValue = (value: unknown, knownSecrets: readonly string[]): unknown =>
  plain(value, { forms: writtenForms(knownSecrets), done: new Map() }, 0)

/** Names without separators, so that `apiKey`, `API-KEY` and `api_key` are one name. */
const SECRET_NAMES = [
  'apikey',
  'secret',
  'password',
  'token',
  'privatekey',
  'mnemonic',
  'authorization',
] as const

const ROUNDS_MAX = 8

const redact = (text: string, forms: ReadonlySet<string>): string => {
  let current = text
  // Hiding one piece may join its neighbours (a secret comma in `token=a,b`): repeat until nothing changes.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const hidden = hide(current, [...knownSpans(current, forms), ...findSecretSpans(current)])
    if (hidden === current) break
    current = hidden
  }
  return current
}

/**
 * All encodings of the secrets: JSON and addresses encode some characters. Texts that the mask itself contains are left
 * out.
 */
const writtenForms = (knownSecrets: readonly string[]): ReadonlySet<string> => {
  const forms = new Set<string>()
  for (const secret of knownSecrets) {
    if (secret === '' || (REDACTED + REDACTED).includes(secret)) continue
    forms.add(secret)
    forms.add(JSON.stringify(secret).slice(1, -1))
    if (secret.isWellFormed()) forms.add(encodeURIComponent(secret))
  }
  return forms
}

const knownSpans = (text: string, forms: ReadonlySet<string>): readonly Span[] => {
  const spans: Span[] = []
  for (const form of forms) {
    for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + form.length)) {
      spans.push({ start, end: start + form.length })
    }
  }
  return spans
}

const hide = (text: string, spans: readonly Span[]): string => {
  if (spans.length === 0) return text
  const pieces: string[] = []
  let shownUpTo = 0
  let hiddenUpTo = -1
  for (const { start, end } of spans.toSorted((left, right) => left.start - right.start)) {
    if (start > hiddenUpTo) {
      pieces.push(text.slice(shownUpTo, start), REDACTED)
      hiddenUpTo = end
    }
    hiddenUpTo = Math.max(hiddenUpTo, end)
    shownUpTo = hiddenUpTo
  }
  return pieces.join('') + text.slice(shownUpTo)
}

interface Walk {
  readonly forms: ReadonlySet<string>
  /** Results by object. An object that is still being processed is its own ancestor. */
  readonly done: Map<object, unknown>
}

const plain = (value: unknown, walk: Walk, depth: number): unknown => {
  if (typeof value === 'string') return redact(value, walk.forms)
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value === 'function') return '[function]'
  if (typeof value !== 'object' || value === null) return value
  if (depth > REDACTION_DEPTH_MAX) return '[too deep]'
  if (walk.done.has(value)) return walk.done.get(value)
  walk.done.set(value, '[circular]')
  const result = plainObject(value, walk, depth)
  walk.done.set(value, result)
  return result
}

const plainObject = (value: object, walk: Walk, depth: number): unknown => {
  const inner = (item: unknown): unknown => plain(item, walk, depth + 1)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value) || value instanceof Set) return Array.from(value, inner)
  if (value instanceof Map)
    return plainMembers(
      [...value].map(([name, item]) => [String(name), item]),
      walk,
      depth,
    )
  if (value instanceof Error) return plainMembers(errorMembers(value), walk, depth)
  if (writesItself(value)) return inner(value.toJSON())
  return plainMembers(Object.entries(value), walk, depth)
}

const writesItself = (value: object): value is { toJSON(): unknown } =>
  'toJSON' in value && typeof value.toJSON === 'function'

const plainMembers = (
  members: readonly (readonly [string, unknown])[],
  walk: Walk,
  depth: number,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    members.map(([name, item]) => [
      redact(name, walk.forms),
      isSecretName(name) && !isEmpty(item) ? REDACTED : plain(item, walk, depth + 1),
    ]),
  )

const isSecretName = (name: string): boolean => {
  const letters = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return SECRET_NAMES.some((secretName) => letters.includes(secretName))
}

const isEmpty = (value: unknown): boolean => value === '' || value === null || value === undefined

/** An error's own text is not enumerable. */
const errorMembers = (error: Error): readonly (readonly [string, unknown])[] => [
  ['name', error.name],
  ['message', error.message],
  ...(error.cause === undefined ? [] : [['cause', error.cause] as const]),
  ...(error instanceof AggregateError ? [['errors', error.errors] as const] : []),
  ...Object.entries(error).filter(([name]) => name !== 'name' && name !== 'cause'),
  ['stack', error.stack ?? null],
]
