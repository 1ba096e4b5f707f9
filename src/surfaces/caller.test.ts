import { describe, expect, it } from 'vitest'
import { ACCESS_SCOPES } from '../core/events/system.ts'
import { CONFIGURATION_KEYS } from '../core/config/keys.ts'
import type { AccessKey, AccessScope, KeyAuthor } from '../core/operations/access-keys.ts'
import { BEFORE_ALL } from '../core/shared/brand.ts'
import {
  ANONYMOUS,
  bearer,
  holderOfKey,
  mayChange,
  mayDo,
  maySpeakFor,
  OPERATOR,
  visitor,
  type Need,
} from './caller.ts'

const NEEDS = ['public', 'any', 'read', 'submit', 'emit', 'control', 'operator', 'access'] as const

const keyWith = (scopes: readonly AccessScope[], author: KeyAuthor | null = null) =>
  holderOfKey({ name: 'k', hash: '', scopes, author, createdAt: BEFORE_ALL, expiresAt: null })

const CALLERS = {
  nobody: [ANONYMOUS, ['public']],
  'the operator': [OPERATOR, [...NEEDS]],
  'the API token beside an operator token': [
    bearer(true),
    ['public', 'any', 'read', 'submit', 'emit', 'control'],
  ],
  'the only token': [bearer(false), NEEDS.filter((need) => need !== 'access')],
  'anybody, with an operator token': [visitor(true), ['public', 'any', 'read', 'submit', 'emit']],
  'anybody, without any token': [visitor(false), NEEDS.filter((need) => need !== 'access')],
  'a key that reads': [keyWith(['read']), ['public', 'any', 'read']],
  'a key that submits': [keyWith(['submit']), ['public', 'any', 'submit']],
  'a key that emits': [keyWith(['emit']), ['public', 'any', 'emit']],
  'a key that operates': [keyWith(['operate']), ['public', 'any', 'control', 'operator']],
  'a key with all scopes': [keyWith(ACCESS_SCOPES), NEEDS.filter((need) => need !== 'access')],
  // A later release may store scopes that this one does not know.
  'a key with foreign scopes': [
    keyWith(['constructor', '__proto__'] as unknown as AccessKey['scopes']),
    ['public'],
  ],
} as const

describe('mayDo', () => {
  it.each(Object.entries(CALLERS))('%s', (_name, [caller, expected]) => {
    expect(NEEDS.filter((need: Need) => mayDo(caller, need))).toEqual(expected)
  })
})

describe('maySpeakFor', () => {
  const ann = { kind: 'contributor', id: 'ann' } as const

  it('holds a bound key to its author', () => {
    const bound = keyWith(['submit'], ann)
    expect(maySpeakFor(bound, ann)).toBe(true)
    for (const author of [{ ...ann, id: 'bob' }, { ...ann, kind: 'producer' } as const, undefined])
      expect(maySpeakFor(bound, author)).toBe(false)
    expect(maySpeakFor(bound, null)).toBe(true)
  })

  it('holds nobody else', () => {
    for (const caller of [OPERATOR, bearer(true), keyWith(['submit'])])
      for (const author of [ann, undefined, null]) expect(maySpeakFor(caller, author)).toBe(true)
  })
})

describe('mayChange', () => {
  const sectionsFor = (caller: Parameters<typeof mayChange>[0]): readonly string[] => [
    ...new Set(
      CONFIGURATION_KEYS.filter(({ path }) => mayChange(caller, path)).map(({ path }) => path[0] ?? ''),
    ),
  ]
  const all = [...new Set(CONFIGURATION_KEYS.map(({ path }) => path[0] ?? ''))]

  it('leaves access, money and risk to operators', () => {
    expect(all.filter((section) => !sectionsFor(bearer(true)).includes(section)).toSorted()).toEqual([
      'api',
      'audit',
      'backtests',
      'dashboard',
      'execution',
      'identity',
      'karma',
      'kill_switch',
      'market',
      'metrics',
      'preset',
      'risk',
      'store',
      'strategies',
    ])
    expect(mayChange(bearer(true), ['producers', 'allow_private_endpoints'])).toBe(false)
    expect(mayChange(bearer(true), ['producers'])).toBe(false)
    expect(mayChange(bearer(true), ['producers', 'quarantine_after'])).toBe(true)
    for (const path of [['__proto__'], ['constructor', 'x'], ['nothing'], []])
      expect(mayChange(bearer(true), path)).toBe(false)
  })

  it('leaves the tokens to the operator token', () => {
    expect(sectionsFor(OPERATOR)).toEqual(all)
    expect(sectionsFor(bearer(false))).toEqual(all)
    expect(sectionsFor(keyWith(['operate']))).toEqual(all.filter((section) => section !== 'api'))
    expect(sectionsFor(keyWith(['read', 'submit', 'emit']))).toEqual([])
  })
})
