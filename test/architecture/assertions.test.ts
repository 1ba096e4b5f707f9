import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { parseSync } from '@swc/core'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Calls that fail a test: also given / when / then, and waiting for an element of a page. */
const ASSERTS = /\bexpect|\.(then|thenNothing|thenRefused|waitFor)\(/

describe('every test', () => {
  it('asserts something', () => {
    const files = ['src', 'test', 'dashboard/src'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(test|contract)\.tsx?$/.test(name))
        .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
    )
    expect(files.length).toBeGreaterThan(100)
    const idle = files.flatMap((file) =>
      testsWithoutAssertion(readFileSync(join(ROOT, file), 'utf8')).map((name) => `${file}: ${name}`),
    )
    expect(idle).toEqual([])
  })
})

describe('the check of assertions', () => {
  it.each([
    ['a test that only calls', "it('runs', async () => { await run() })"],
    ['one of a table', "it.each([1])('runs', (count) => { run(count) })"],
    ['one that calls a helper without an assertion', "const run = () => {}\nit('runs', () => run())"],
  ])('finds %s', (_, text) => {
    expect(testsWithoutAssertion(text)).toEqual(['runs'])
  })

  it.each([
    ['an assertion', "it('adds', () => { expect(1 + 1).toBe(2) })"],
    ['an assertion in a helper', "const check = () => expect(1).toBe(1)\nit('adds', () => check())"],
    ['given, when, then', "it('refuses', () => { given().when(ask).thenRefused('no') })"],
  ])('accepts %s', (_, text) => {
    expect(testsWithoutAssertion(text)).toEqual([])
  })
})

interface Node {
  readonly type?: string
  readonly span?: { readonly start: number; readonly end: number }
  readonly [member: string]: unknown
}

/** From a line with `it` to the line that closes it: in formatted code this is the whole test. */
const FORMATTED_TEST = /^( *)it\b[^\n]*(?:\n(?!\1\S)[^\n]*)*/gm

const testsWithoutAssertion = (text: string): readonly string[] => {
  // Parsing takes long, and in most files every test has an assertion of its own.
  const tests = [...text.matchAll(FORMATTED_TEST)]
  return tests.every(([test]) => ASSERTS.test(test)) ? [] : parsedTestsWithoutAssertion(text)
}

const parsedTestsWithoutAssertion = (text: string): readonly string[] => {
  const program = parseSync(text, { syntax: 'typescript', tsx: false, target: 'es2022' }) as unknown as Node
  const bytes = Buffer.from(text)
  const offset = program.span?.start ?? 0
  const sourceOf = ({ span }: Node): string =>
    span === undefined ? '' : bytes.subarray(span.start - offset, span.end - offset).toString()

  const helpers = new Map<string, string>()
  const tests: { readonly name: string; readonly source: string }[] = []
  visit(program, (node) => {
    const name = ((node['id'] ?? node['identifier'] ?? node['key']) as Node | undefined)?.['value']
    if (DECLARES.has(node.type ?? '') && typeof name === 'string') helpers.set(name, sourceOf(node))
    if (node.type !== 'CallExpression' || !TESTS.has(rootOf(node))) return
    const [title, ...others] = (node['arguments'] as readonly { readonly expression: Node }[]).map(
      ({ expression }) => expression,
    )
    const body = others.find(({ type }) => type?.includes('Function') === true)
    if (title !== undefined && body !== undefined)
      tests.push({ name: textIn(title) ?? sourceOf(title), source: sourceOf(body) })
  })

  const asserts = (source: string, seen: ReadonlySet<string>): boolean =>
    ASSERTS.test(source) ||
    [...helpers].some(
      ([name, helper]) =>
        !seen.has(name) &&
        new RegExp(`\\b${name}\\b`).test(source) &&
        asserts(helper, new Set([...seen, name])),
    )
  return tests.filter(({ source }) => !asserts(source, new Set())).map(({ name }) => name)
}

const textIn = (node: Node | undefined): string | null => {
  const value = node?.['value']
  return typeof value === 'string' ? value : null
}

const TESTS: ReadonlySet<string> = new Set(['it', 'test'])

const DECLARES: ReadonlySet<string> = new Set(['VariableDeclarator', 'FunctionDeclaration', 'ClassMethod'])

/** `it` of `it.each(table)(name, work)`. */
const rootOf = (node: Node | undefined): string => {
  const inner = (node?.['callee'] ?? node?.['object']) as Node | undefined
  return inner === undefined ? (textIn(node) ?? '') : rootOf(inner)
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
