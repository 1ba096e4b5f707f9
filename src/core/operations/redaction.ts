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

/** A piece of text that must not be shown: [start, end). */
interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Finds text that looks like a secret. Each rule walks the text once, so that the cost is linear even for hostile
 * input. Spans may overlap.
 */
const findSecretSpans = (text: string): readonly Span[] => [
  ...valuesAfter(text, WORD_INTRODUCER, wordAt),
  ...valuesAfter(text, LINE_INTRODUCER, lineAt),
  ...privateKeyBlocks(text),
  ...jsonWebTokens(text),
  ...urlPasswords(text),
  ...wholeMatches(text, PREFIXED_KEY),
  ...wholeMatches(text, HEX_KEY),
]

const WORD_INTRODUCER =
  /bearer\s+|(?:token|api[_-]?key|secret|password|private[_-]?key)(?:\\*["'`])?\s*[=:]{1,3}>?\s*/gi
/** Credentials of several words: what follows is a secret up to the end of the line. */
const LINE_INTRODUCER = /(?:authorization|mnemonic)(?:\\*["'`])?\s*[=:]{1,3}>?\s*/gi
/** Words such as `risk-weighted` hold `sk-` too, but never begin with it. */
const PREFIXED_KEY = /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{3,}/g
const HEX_KEY = /0x[0-9a-fA-F]{64,}/g
const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/g
const DOTTED_RUN = /[A-Za-z0-9_.-]+/g
const URL_PASSWORD = /:\/\/[^\s/:@]*:([^\s/]+)@/g
const WORD_END = /[\s"'`,;&]/g
const LINE_END = /[\r\n]/g
const OPENERS = /[\s[({<]*/y
const OPENING_QUOTE = /(\\{0,15})(["'`])/y

type ValueAt = (text: string, start: number) => Span

const valuesAfter = (text: string, introducer: RegExp, valueAt: ValueAt): readonly Span[] => {
  const spans: Span[] = []
  for (let match = matchFrom(introducer, text, 0); match !== null;) {
    const afterIntroducer = match.index + match[0].length
    const span = valueAt(text, afterIntroducer)
    if (span.end > span.start) spans.push(span)
    // Continuing after the value keeps the walk linear. Text inside the value is hidden already.
    match = matchFrom(introducer, text, Math.max(afterIntroducer, span.end))
  }
  return spans
}

const wordAt: ValueAt = (text, start) => {
  const first = start + (matchFrom(OPENERS, text, start)?.[0].length ?? 0)
  const quoted = quotedAt(text, first)
  if (quoted !== null) return quoted
  let end = indexFrom(WORD_END, text, first)
  while (end > first && ')]}>'.includes(text.charAt(end - 1))) end -= 1
  return { start: first, end }
}

const lineAt: ValueAt = (text, start) =>
  quotedAt(text, start) ?? { start, end: indexFrom(LINE_END, text, start) }

/** The inside of a quoted value, also when the quotes themselves are escaped (JSON inside JSON). */
const quotedAt = (text: string, at: number): Span | null => {
  const opening = matchFrom(OPENING_QUOTE, text, at)
  if (opening === null) return null
  const [delimiter, { length: escapes }, quote] = opening as unknown as readonly [string, string, string]
  const start = at + delimiter.length
  for (let index = text.indexOf(quote, start); index !== -1; index = text.indexOf(quote, index + 1)) {
    const backslashes = backslashesBefore(text, index, start)
    if (backslashes < escapes) return { start, end: index - backslashes }
    if ((backslashes - escapes) % (2 * (escapes + 1)) === 0) return { start, end: index - escapes }
  }
  return { start, end: indexFrom(LINE_END, text, start) }
}

const backslashesBefore = (text: string, index: number, from: number): number => {
  let count = 0
  while (index - count > from && text.charAt(index - count - 1) === '\\') count += 1
  return count
}

/** A block that never ends hides the rest: half a private key is still a secret. */
const privateKeyBlocks = (text: string): readonly Span[] => {
  const spans: Span[] = []
  for (let begin = matchFrom(PEM_BEGIN, text, 0); begin !== null;) {
    const end = matchFrom(PEM_END, text, begin.index)
    const stop = end === null ? text.length : end.index + end[0].length
    spans.push({ start: begin.index, end: stop })
    begin = matchFrom(PEM_BEGIN, text, stop)
  }
  return spans
}

/** Three dotted parts of which the first holds `eyJ`, the beginning of every encoded JSON object. */
const jsonWebTokens = (text: string): readonly Span[] => {
  const spans: Span[] = []
  for (const run of text.matchAll(DOTTED_RUN)) {
    if (!run[0].includes('eyJ')) continue
    const parts = run[0].split('.')
    let offset = run.index
    for (const [index, part] of parts.entries()) {
      const header = part.indexOf('eyJ')
      const payload = parts[index + 1]
      const signature = parts[index + 2]
      if (header !== -1 && payload !== undefined && payload !== '' && signature !== undefined) {
        const end = offset + part.length + 1 + payload.length + 1 + signature.length
        spans.push({ start: offset + header, end })
      }
      offset += part.length + 1
    }
  }
  return spans
}

const urlPasswords = (text: string): readonly Span[] =>
  Array.from(text.matchAll(URL_PASSWORD), (match) => {
    const end = match.index + match[0].length - 1
    return { start: end - (match[1] ?? '').length, end }
  })

const wholeMatches = (text: string, pattern: RegExp): readonly Span[] =>
  Array.from(text.matchAll(pattern), ({ index, 0: found }) => ({ start: index, end: index + found.length }))

const matchFrom = (pattern: RegExp, text: string, from: number): RegExpExecArray | null => {
  pattern.lastIndex = from
  return pattern.exec(text)
}

const indexFrom = (pattern: RegExp, text: string, from: number): number =>
  matchFrom(pattern, text, from)?.index ?? text.length
