/**
 * Which of the mistakes that StrykerJS can generate are made: a sample of one folder, chosen by a seed. StrykerJS also loads
 * this file, as a plugin: its checker keeps everything else from being run.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

import { Instrumenter } from '@stryker-mutator/instrumenter'

/** The folders whose generated mutants are tried; each has a row in docs/guarantees.md. */
export const FOLDERS = [
  'src/core',
  'src/engine',
  'src/adapters/storage',
  'src/surfaces/mcp',
  'src/surfaces/dashboard',
  'src/surfaces/http',
]

/** Names the file with the keys of the sample, for the process of the checker. */
export const SAMPLE_FILE_VARIABLE = 'SVC_MUTANTS_SAMPLE'

/** Properties and calls with strings that only people read: another wording is no mistake of a program. */
const TEXT_PROPERTIES = new Set([
  'advice',
  'description',
  'detail',
  'help',
  'label',
  'message',
  'note',
  'summary',
  'text',
  'title',
])
const TEXT_CALLS = new Set(['Error', 'TypeError', 'RangeError', 'assert', 'describe', 'say', 'warn'])

/** At least three words, none of them written like code. */
const SENTENCE = /^[A-Z]?[a-z-]+,?( [A-Za-z-]+[,;:.]?){2,}$/

/** Longer prose may contain names, numbers and values. It has at least four words, three of them in small letters alone. */
const PROSE_WORD = /^['"(]?[a-z]+(?:-[a-z]+)*[,;:.?)'"]*$/
const WORDS_MIN = 4
const PROSE_WORDS_MIN = 3
const SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WHERE|WITH|CASE)\b/
const CODE = /[\n=$]/

const REPLACEMENT_LENGTH_MAX = 100

const isCode = (name) => name.endsWith('.ts') && !/\.(test|contract|fixture|generated|d)\.ts$/.test(name)

const sourcesIn = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter(isCode)
    .toSorted()

/** All mutants of a folder that change what a program does, in a fixed order. */
export const mutantsIn = async (root, folder) => {
  const files = sourcesIn(root, folder).map((name) => ({
    name,
    mutate: true,
    content: readFileSync(join(root, name), 'utf8'),
  }))
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, isDebugEnabled: () => false }
  const options = { excludedMutations: [], ignorers: [{ shouldIgnore: reasonToIgnore }], plugins: null }
  const { mutants } = await new Instrumenter(logger).instrument(files, options)
  return mutants
    .filter(({ status }) => status !== 'Ignored')
    .map(({ fileName, location: { start, end }, mutatorName, replacement }) => ({
      file: fileName,
      // Counted as editors and reports do, from 1.
      start: { line: start.line + 1, column: start.column + 1 },
      end: { line: end.line + 1, column: end.column + 1 },
      mutatorName,
      replacement,
    }))
}

/** Chooses a sample by the seed. A mutant keeps its rank when other mutants are added or removed. */
export const sampleOf = (mutants, size, seed) =>
  mutants
    .map((mutant) => ({ mutant, rank: rankOf(mutant, seed) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .slice(0, size)
    .map(({ mutant }) => mutant)

const rankOf = (mutant, seed) =>
  createHash('sha256')
    .update(`${seed}\n${keyOf(mutant)}`)
    .digest('hex')

export const keyOf = ({ file, start, end, mutatorName, replacement }) =>
  [file, start.line, start.column, end.line, end.column, mutatorName, replacement].join('|')

/** A mutant in the words of StrykerJS's results, whose columns and lines begin at `first`. */
export const keyOfResult = ({ fileName, location: { start, end }, mutatorName, replacement }, first) =>
  keyOf({
    file: fileName.replaceAll('\\', '/').replace(/^.*\/(?=src\/)/, ''),
    start: { line: start.line + 1 - first, column: start.column + 1 - first },
    end: { line: end.line + 1 - first, column: end.column + 1 - first },
    mutatorName,
    replacement,
  })

const REASON = 'text for people'
/** The tool that bundles threads and processes finds them by these texts: another one would not be found by any test. */
const PROGRAM = /-(?:thread|process)\.ts$/
const PROGRAM_REASON = 'name of a program'
/** Kinds of nodes of a text, which may be joined from several lines. */
const TEXTS = new Set(['StringLiteral', 'TemplateLiteral', 'BinaryExpression'])

const isSentence = (text) => {
  if (SENTENCE.test(text)) return true
  const words = text.trim().split(' ')
  const plain = words.filter((word) => PROSE_WORD.test(word))
  return words.length >= WORDS_MIN && plain.length >= PROSE_WORDS_MIN && !CODE.test(text) && !SQL.test(text)
}

/** The text of a literal, with `{}` in place of each value. Null if a value is computed in it. */
const textOf = (node) => {
  if (node.type === 'StringLiteral') return node.value
  if (node.type === 'TemplateLiteral') return node.expressions.every(isName) ? templateText(node) : null
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return null
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === null || right === null ? null : left + right
}

const templateText = ({ quasis = [] }) => quasis.map(({ value }) => value.cooked).join('{}')

const isName = ({ type, object, computed }) =>
  type === 'Identifier' || (type === 'MemberExpression' && !computed && isName(object))

const isTextProperty = ({ type, key }) =>
  type === 'ObjectProperty' && TEXT_PROPERTIES.has(key.name ?? key.value)

/** Why StrykerJS leaves out what stands at this place of the code. */
const reasonToIgnore = ({ node, parent, key }) => {
  const text = textOf(node)
  if (text !== null && isSentence(text)) return REASON
  if (text !== null && PROGRAM.test(text)) return PROGRAM_REASON
  // A query is a text, too.
  if (TEXTS.has(node.type) && SQL.test(text ?? templateText(node))) return undefined
  // `.meta({ description: '…' })` as a whole.
  if (node.type === 'ObjectExpression')
    return node.properties.length > 0 && node.properties.every(isTextProperty) ? REASON : undefined
  if (!TEXTS.has(node.type)) return undefined
  if (parent.type === 'ObjectProperty') return key === 'value' && isTextProperty(parent) ? REASON : undefined
  if (parent.type !== 'CallExpression' && parent.type !== 'NewExpression') return undefined
  const called = parent.callee.name ?? parent.callee.property?.name
  return TEXT_CALLS.has(called) ? REASON : undefined
}

/** StrykerJS takes places, and makes every mutant inside of them: those that were not chosen go no further. */
class SampleChecker {
  #chosen = new Set()

  async init() {
    this.#chosen = new Set(JSON.parse(readFileSync(process.env[SAMPLE_FILE_VARIABLE], 'utf8')))
  }

  async check(mutants) {
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#resultFor(mutant)]))
  }

  group(mutants) {
    return [mutants.map(({ id }) => id)]
  }

  #resultFor(mutant) {
    return this.#chosen.has(keyOfResult(mutant, 0))
      ? { status: 'passed' }
      : { status: 'compileError', reason: 'not in the sample' }
  }
}

/** Says at once what became of each mutant of the sample. */
class SampleReporter {
  #tried = 0

  onMutantTested(result) {
    if (result.status === 'CompileError' || result.status === 'Ignored') return
    this.#tried += 1
    const { status, location, mutatorName, replacement } = result
    const [file] = keyOfResult(result, 1).split('|')
    const code = replacement.replaceAll(/\s+/g, ' ').slice(0, REPLACEMENT_LENGTH_MAX)
    process.stdout.write(
      `${String(this.#tried).padStart(5)} ${status}: ${file}:${location.start.line}:${location.start.column} ${mutatorName}: ${code}\n`,
    )
  }
}

export const strykerPlugins = [
  { kind: 'Checker', name: 'sample', injectableClass: SampleChecker },
  { kind: 'Reporter', name: 'sample', injectableClass: SampleReporter },
  { kind: 'Ignore', name: 'sample', value: { shouldIgnore: reasonToIgnore } },
]
