import type { AccessKey, AccessScope, KeyAuthor } from '../core/operations/access-keys.ts'
import { KEY_OWNER_PREFIX, TOKEN_OWNER, type Holder } from '../core/shared/fair-share.ts'

/** What a caller needs for an endpoint or a tool. Every route and every tool declares exactly one. */
export type Need =
  | 'public'
  /** Any token or access key: what is asked for declares its own need. */
  | 'any'
  | Right
  /** The operator token itself: no access key and no other token hands out access. */
  | 'access'

/** `control`: to raise the kill switch and change settings that need no operator. */
type Right = 'read' | 'submit' | 'emit' | 'control' | 'operator'

/** Who sent a request. `authenticate` in `http/authenticate.ts` is the one place that says so. */
export interface Caller {
  /** Which of the configured tokens was sent, or an access key; `anonymous` where none was required. */
  readonly kind: 'anonymous' | 'bearer' | 'operator' | 'key'
  readonly rights: ReadonlySet<Right>
  /** Null unless `kind` is `key`. */
  readonly key: AccessKey | null
}

const ORDINARY: readonly Right[] = ['read', 'submit', 'emit']

const ALL: ReadonlySet<Right> = new Set([...ORDINARY, 'control', 'operator'])

/** Nothing is asked of it, and nothing else is allowed. */
export const ANONYMOUS: Caller = { kind: 'anonymous', rights: new Set(), key: null }

/** While no operator token is configured, everybody who is admitted at all is an operator. */
export const visitor = (hasOperatorToken: boolean): Caller => ({
  kind: 'anonymous',
  rights: hasOperatorToken ? new Set(ORDINARY) : ALL,
  key: null,
})

export const bearer = (hasOperatorToken: boolean): Caller => ({
  kind: 'bearer',
  rights: hasOperatorToken ? new Set([...ORDINARY, 'control']) : ALL,
  key: null,
})

export const OPERATOR: Caller = { kind: 'operator', rights: ALL, key: null }

export const holderOfKey = (key: AccessKey): Caller => ({
  kind: 'key',
  rights: new Set(key.scopes.flatMap((scope) => RIGHTS_OF_SCOPE.get(scope) ?? [])),
  key,
})

/** The same key where it acts in a session: an operator action asks for it again, as it does for the operator token. */
export const withoutOperator = (caller: Caller): Caller =>
  caller.kind === 'key'
    ? { ...caller, rights: new Set([...caller.rights].filter((right) => right !== 'operator')) }
    : caller

const RIGHTS_OF_SCOPE: ReadonlyMap<AccessScope, readonly Right[]> = new Map([
  ['read', ['read']],
  ['submit', ['submit']],
  ['emit', ['emit']],
  ['operate', ['control', 'operator']],
])

/** Whether an admitted caller has what an endpoint or a tool needs. */
export const mayDo = ({ kind, rights }: Caller, need: Need): boolean => {
  switch (need) {
    case 'public':
      return true
    case 'any':
      return rights.size > 0
    case 'access':
      return kind === 'operator'
    default:
      return rights.has(need)
  }
}

/** What the audit says of the caller. */
export const keyNameOf = ({ key }: Caller): { readonly access_key?: string } =>
  key === null ? {} : { access_key: key.name }

/** Names the caller of a change in the log; `anonymous` where no token is required. */
export const nameOf = (caller: Caller): string =>
  caller.kind === 'anonymous' ? 'anonymous' : ownerOf(caller)

/**
 * Owner of the runs and sessions that the caller creates. A name is free again after its key was revoked, so the owner
 * contains a part of the hash of the secret.
 */
export const ownerOf = ({ kind, key }: Caller): string => {
  if (key !== null) return `${KEY_OWNER_PREFIX}${key.name}:${key.hash.slice(0, 16)}`
  return kind === 'operator' ? 'operator' : TOKEN_OWNER
}

export const holderOf = (caller: Caller): Holder => ({
  owner: ownerOf(caller),
  isOperator: mayDo(caller, 'operator'),
})

/** What is missing, in the words of the scopes of access keys. */
export const scopeFor = (need: Need): AccessScope =>
  need === 'read' || need === 'submit' || need === 'emit' ? need : 'operate'

/**
 * Whether a write may be made in this name. A bound key speaks for its author alone: what is made in somebody's name
 * has to say in whose (`undefined` = not known), and what is made in nobody's name (null) is open to it.
 */
export const maySpeakFor = ({ key }: Caller, author: KeyAuthor | null | undefined): boolean => {
  const bound = key?.author ?? null
  if (bound === null || author === null) return true
  return author?.kind === bound.kind && author.id === bound.id
}

/** Whether a write needs to say in whose name it is made. */
export const isMadeInAName = (need: Need): boolean => need === 'submit' || need === 'emit'

/** Sections that whoever has `control` may change: they tune what is traded and learned within the limits of risk. */
const OPEN_SECTIONS: ReadonlySet<string> = new Set([
  'alerts',
  'brain',
  'learning',
  'logging',
  'producers',
  'settlement',
  'signals',
  'stream',
  'ta',
  'trace',
  'universe',
  'weights',
])

const PRIVATE_ENDPOINTS = 'producers.allow_private_endpoints'

/** Whether the caller may change this setting. Who can get in is not changed with an access key. */
export const mayChange = ({ kind, rights }: Caller, path: readonly string[]): boolean => {
  const [section = ''] = path
  const key = path.join('.')
  // A whole group that is reset includes the key below it.
  const isOpen =
    OPEN_SECTIONS.has(section) && key !== PRIVATE_ENDPOINTS && !`${PRIVATE_ENDPOINTS}.`.startsWith(`${key}.`)
  if (isOpen) return rights.has('control')
  return rights.has('operator') && (kind !== 'key' || section !== 'api')
}

/**
 * Whether the caller proved to be an operator. Where no operator token is configured nobody does over HTTP: the key of a
 * contributor then stands above every token.
 */
export const isProvenOperator = ({ kind, rights }: Caller): boolean =>
  rights.has('operator') && kind !== 'anonymous' && kind !== 'bearer'
