import type { AccessKey, AccessScope, KeyAuthor } from '../core/operations/access-keys.ts'
import { KEY_OWNER_PREFIX, TOKEN_OWNER, type Holder } from '../core/shared/fair-share.ts'

/** The right that an endpoint or a tool requires of its caller. Every route and every tool declares exactly one. */
export type Need =
  | 'public'
  /** Any token or access key. The requested part of the endpoint declares its own need. */
  | 'any'
  | Right
  /** The operator token itself. Access keys and other tokens cannot hand out access. */
  | 'access'

/** `control`: raising the kill switch and changing settings that need no operator. */
type Right = 'read' | 'submit' | 'emit' | 'control' | 'operator'

/** Sender of a request. Only `authenticate` in `http/authenticate.ts` creates it. */
export interface Caller {
  /** The configured token that was sent, or an access key. `anonymous` where no token is required. */
  readonly kind: 'anonymous' | 'bearer' | 'operator' | 'key'
  readonly rights: ReadonlySet<Right>
  /** Null unless `kind` is `key`. */
  readonly key: AccessKey | null
}

const ORDINARY: readonly Right[] = ['read', 'submit', 'emit']

const ALL: ReadonlySet<Right> = new Set([...ORDINARY, 'control', 'operator'])

/** Caller without rights, where nothing is required of the caller. */
export const ANONYMOUS: Caller = { kind: 'anonymous', rights: new Set(), key: null }

/**
 * The caller where no token is required. While no operator token is configured, every admitted caller is an operator.
 */
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

/**
 * The caller within a session. A session with an access key must send the key again for operator actions, like the
 * operator token.
 */
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

/** True if an admitted caller has the right that an endpoint or a tool needs. */
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

/** Access key of the caller, for the audit. */
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

/** Name of the access key scope that the caller lacks. */
export const scopeFor = (need: Need): AccessScope =>
  need === 'read' || need === 'submit' || need === 'emit' ? need : 'operate'

/**
 * True if the key may write for this author. A key bound to an author may write for that author only. `author` is
 * `undefined` if it is not known, which such a key is refused, and null for a write without an author, which is
 * allowed.
 */
export const maySpeakFor = ({ key }: Caller, author: KeyAuthor | null | undefined): boolean => {
  const bound = key?.author ?? null
  if (bound === null || author === null) return true
  return author?.kind === bound.kind && author.id === bound.id
}

/** True if a write must name its author. */
export const isMadeInAName = (need: Need): boolean => need === 'submit' || need === 'emit'

/** Sections that a caller with `control` may change. They tune trading and learning within the risk limits. */
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

/** True if the caller may change this setting. An access key cannot change the settings of access. */
export const mayChange = ({ kind, rights }: Caller, path: readonly string[]): boolean => {
  const [section = ''] = path
  const key = path.join('.')
  // Resetting a whole group also resets the key below it.
  const isOpen =
    OPEN_SECTIONS.has(section) && key !== PRIVATE_ENDPOINTS && !`${PRIVATE_ENDPOINTS}.`.startsWith(`${key}.`)
  if (isOpen) return rights.has('control')
  return rights.has('operator') && (kind !== 'key' || section !== 'api')
}

/**
 * True if the caller proved to be an operator. Without a configured operator token no caller does over HTTP: the key of
 * a contributor then ranks above every token.
 */
export const isProvenOperator = ({ kind, rights }: Caller): boolean =>
  rights.has('operator') && kind !== 'anonymous' && kind !== 'bearer'
