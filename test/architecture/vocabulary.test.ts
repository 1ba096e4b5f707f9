import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { parseSync } from '@swc/core'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The black-box tests are the yardstick of the wire and stay as they were written. */
const BLACK_BOX = 'test/interface/'

const FOLDERS = ['src', 'test', 'bench', 'tools', 'dashboard/src']

const CODE = /\.(ts|tsx|mjs)$/

/** Words that are not used in this project, with the word to use instead. */
const WORDS: Readonly<Record<string, string>> = {
  ...instead('…Dependencies', 'house', 'houses', 'workshop', 'workshops'),
  ...instead('Environment', 'surroundings'),
  ...instead('…Options or …Request', 'wish', 'wishes'),
  ...instead('DecisionContext, now', 'moment', 'moments'),
  ...instead('EventBuilder', 'story', 'stories'),
  ...instead('append, publish, send or report', 'tell', 'tells', 'told', 'telling', 'heard'),
  ...instead('error', 'trouble', 'troubles', 'troubled'),
  ...instead('authenticate', 'doorkeeper', 'knock', 'knocks', 'stranger', 'strangers'),
  ...instead('boundary', 'door', 'doors'),
  ...instead('LatestSignals', 'board', 'posting', 'postings'),
  ...instead('Author, AuthorSignals', 'voice', 'voices', 'speaker', 'speakers', 'company', 'companies'),
  ...instead('BrainState', 'mind', 'minds'),
  ...instead('…Runner, …Router, …Monitor or …Commands', 'desk', 'desks'),
  ...instead('mark-order-unknown', 'doubt', 'doubts', 'doubted', 'doubtful'),
  ...instead('lookup-unsupported', 'unfindable'),
  ...instead('accrue', 'owe', 'owes', 'owing', 'owed'),
  ...instead('ReceiptSigner', 'notary', 'notaries'),
  ...instead('…Status', 'standing', 'standings'),
  ...instead('a *.fixture.ts', 'scenery', 'stage', 'stages'),
}

/** Words that mean something else elsewhere. */
const WORDS_IN: readonly { readonly under: RegExp; readonly words: Readonly<Record<string, string>> }[] = [
  { under: /^src\/core\/(brain|reputation|signals)\//, words: instead('edge', 'form', 'forms') },
  { under: /^src\/core\/trading\//, words: instead('costBasis', 'products') },
  // On a page it is space.
  { under: /^(src|test|bench|tools)\//, words: instead('context', 'room', 'rooms') },
]

/** Names that other programs decide: members of the wire, of libraries and of the browser. */
const FOREIGN_NAMES: ReadonlySet<string> = new Set(['form_half_life'])

describe('the vocabulary', () => {
  it('has one word for each thing, in every identifier and file name', () => {
    const files = FOLDERS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => CODE.test(name) && !name.includes('node_modules'))
        .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
    ).filter((file) => !file.startsWith(BLACK_BOX))
    expect(files.length).toBeGreaterThan(500)
    expect(files.flatMap((file) => findingsIn(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
  })
})

describe('the vocabulary check', () => {
  it.each([
    ['a variable', 'const marketDesk = 1', 'marketDesk: desk (use …Runner, …Router, …Monitor or …Commands)'],
    ['a parameter', 'export const run = (wish: object) => wish', 'wish: wish (use …Options or …Request)'],
    ['a type', 'export interface Surroundings {}', 'Surroundings: surroundings (use Environment)'],
    ['a member', 'export interface A { readonly lastPosting: string }', 'lastPosting: posting'],
    ['a private member', 'class A { #mind = 1 }', 'mind: mind (use BrainState)'],
    ['a constant', 'const MOMENTS_MAX = 1', 'MOMENTS_MAX: moments'],
    ['an import', "import { tellAll } from './a.ts'", 'tellAll: tell'],
    ['a part of a name in one case', 'const isHTTPDoorkeeper = true', 'isHTTPDoorkeeper: doorkeeper'],
    ['a bag of dependencies', 'interface MarketParts {}', 'MarketParts: parts (use …Dependencies)'],
    ['a bag by its variable', 'const a = (parts: ADependencies) => parts', 'parts: parts (use dependencies)'],
    ['a bag in a member', 'class A { readonly #parts: Dependencies }', 'parts: parts (use dependencies)'],
  ])('finds %s', (_, text, finding) => {
    expect(findingsIn('src/engine/a.ts', text)[0]).toContain(`src/engine/a.ts: ${finding}`)
  })

  it('finds a file name and a folder name', () => {
    expect(findingsIn('test/tamper/house.ts', '')).toEqual([
      'test/tamper/house.ts: house (use …Dependencies)',
    ])
    expect(findingsIn('src/stage/light.ts', '')).toHaveLength(1)
  })

  it('finds a word where it means the wrong thing, and only there', () => {
    expect(findingsIn('src/core/brain/a.ts', 'const form = 1')).toHaveLength(1)
    expect(findingsIn('dashboard/src/a.tsx', 'const form = <form />')).toEqual([])
  })

  it.each([
    ['comments', '// the house\n/* a wish */'],
    ['text', "const a = 'told'; const b = `a story of ${a}`"],
    ['words that only contain one', 'const dashboard = 1; const reminder = 2; const understanding = 3'],
    ['parts that are parts', 'const parts: readonly string[] = []'],
    ['pages', 'const Page = () => <p>no stranger here</p>'],
  ])('leaves alone: %s', (_, text) => {
    expect(findingsIn('src/engine/a.tsx', text)).toEqual([])
  })
})

function instead(use: string, ...words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, use]))
}

const findingsIn = (file: string, text: string): readonly string[] => {
  const uses = new Map(Object.entries({ ...WORDS, ...wordsIn(file) }))
  const banned = (name: string): readonly string[] =>
    wordsOf(name).flatMap((word) => (uses.has(word) ? [`${word} (use ${uses.get(word)})`] : []))
  const { names, bags } = mayHold([...uses.keys(), 'parts'], text) ? namesIn(file, text) : NO_NAMES
  return [
    ...file.split('/').flatMap((part) => banned(basename(part))),
    ...names
      .filter((name) => !FOREIGN_NAMES.has(name))
      .flatMap((name) => banned(name).map((finding) => `${name}: ${finding}`)),
    ...bags,
  ].map((finding) => `${file}: ${finding}`)
}

const wordsIn = (file: string): Readonly<Record<string, string>> =>
  Object.fromEntries(WORDS_IN.flatMap(({ under, words }) => (under.test(file) ? Object.entries(words) : [])))

/** Most files hold none of the words, and need not be parsed. */
const mayHold = (words: readonly string[], text: string): boolean =>
  new RegExp(words.join('|'), 'i').test(text)

/** `isHTTPDoor_2` is is, http, door, 2. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)

interface Names {
  readonly names: readonly string[]
  /** Dependencies that are called parts. */
  readonly bags: readonly string[]
}

const NO_NAMES: Names = { names: [], bags: [] }

const namesIn = (file: string, text: string): Names => {
  const names = new Set<string>()
  const bags = new Set<string>()
  const isTypeScript = !file.endsWith('.mjs')
  const program = isTypeScript
    ? parseSync(text, {
        syntax: 'typescript',
        tsx: file.endsWith('.tsx'),
        decorators: true,
        target: 'es2022',
      })
    : parseSync(text, { syntax: 'ecmascript', target: 'es2022' })
  visit(program, (node) => {
    const name = nameOf(node)
    if (name !== null) names.add(name)
    if (DECLARES_TYPE.has(node['type']) && nameOf(node['id'])?.endsWith('Parts') === true)
      bags.add(`${nameOf(node['id'])}: parts (use …Dependencies)`)
    const typed = nameOf(node['key']) ?? name
    if (typed === 'parts' && /Dependencies/.test(JSON.stringify(node['typeAnnotation'] ?? null)))
      bags.add('parts: parts (use dependencies)')
  })
  return { names: [...names], bags: [...bags] }
}

type Node = Readonly<Record<string, unknown>>

const DECLARES_TYPE: ReadonlySet<unknown> = new Set(['TsInterfaceDeclaration', 'TsTypeAliasDeclaration'])

const nameOf = (node: unknown): string | null => {
  const { type, value } = (node ?? {}) as Node
  return (type === 'Identifier' || type === 'PrivateName') && typeof value === 'string' ? value : null
}

const visit = (value: unknown, onNode: (node: Node) => void): void => {
  if (value === null || typeof value !== 'object') return
  if (Array.isArray(value)) {
    for (const member of value) visit(member, onNode)
    return
  }
  onNode(value as Node)
  for (const member of Object.values(value)) visit(member, onNode)
}
