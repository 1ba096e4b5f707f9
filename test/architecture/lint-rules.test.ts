import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const GLOBALS = 'eslint(no-restricted-globals)'
const PROPERTIES = 'eslint(no-restricted-properties)'
const DATE = 'signal-engine(no-current-date)'

/** A file path, its text, and the lint rules that must reject it. */
type Ban = readonly [file: string, text: string, rules: readonly string[]]

const CORE = 'src/core/signals/signals'
const ENGINE = 'src/engine/engine'

/** Globals that core may not use: Node, waiting, and everything that differs between machines. */
const GLOBALS_OF_NODE = [
  'Buffer',
  'console',
  'crypto',
  'fetch',
  'global',
  'globalThis',
  'performance',
  'process',
  'require',
]
const GLOBALS_OF_WAITING = [
  'Promise',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
]
const CORE_GLOBALS = ['Intl', ...GLOBALS_OF_NODE, ...GLOBALS_OF_WAITING]
const LOCAL_TEXT = [
  'localeCompare',
  'toLocaleDateString',
  'toLocaleLowerCase',
  'toLocaleString',
  'toLocaleTimeString',
  'toLocaleUpperCase',
]
const LOCAL_TIME = [
  'getDate',
  'getDay',
  'getFullYear',
  'getHours',
  'getMinutes',
  'getMonth',
  'getTimezoneOffset',
  'setDate',
  'setHours',
]
/** Functions whose last digit differs between processors. */
const ROUNDED_SOMEHOW = [
  'acos',
  'acosh',
  'asin',
  'asinh',
  'atan',
  'atan2',
  'atanh',
  'cbrt',
  'cos',
  'cosh',
  'exp',
  'expm1',
  'hypot',
  'log',
  'log10',
  'log1p',
  'log2',
  'pow',
  'sin',
  'sinh',
  'tan',
  'tanh',
]
const CORE_PROPERTIES = ['now', 'random', ...ROUNDED_SOMEHOW, ...LOCAL_TEXT, ...LOCAL_TIME]

const BANS: readonly Ban[] = [
  ...CORE_GLOBALS.map((name): Ban => [CORE, `export const it = (): unknown => ${name}`, [GLOBALS]]),
  ...[...LOCAL_TEXT, ...LOCAL_TIME].map((name): Ban => [
    CORE,
    `export const it = (o: { ${name}: () => string }): string => o.${name}()`,
    [PROPERTIES],
  ]),
  ...ROUNDED_SOMEHOW.map((name): Ban => [
    CORE,
    `export const it = (): unknown => Math.${name}`,
    [PROPERTIES],
  ]),
  [CORE, 'export const now = (): number => Date.now()', [PROPERTIES]],
  [CORE, 'export const now = (): Date => new Date()', [DATE]],
  [CORE, 'export const now = (): string => Date()', [DATE]],
  [CORE, 'export const chance = (): number => Math.random()', [PROPERTIES]],
  [CORE, 'export const home = (): string | undefined => process.env["HOME"]', [GLOBALS]],
  [CORE, 'export const talk = (): void => console.log("a")', ['eslint(no-console)', GLOBALS]],
  [CORE, 'export const later = (): void => { setTimeout(() => {}, 1) }', [GLOBALS]],
  [CORE, 'export const later = async (): Promise<number> => 1', ['oxc(no-async-await)']],
  [`${CORE}.test`, 'export const now = (): Date => new Date()', [DATE]],
  [ENGINE, 'export const now = (): number => Date.now()', [PROPERTIES]],
  [ENGINE, 'export const now = (): Date => new Date()', [DATE]],
  [ENGINE, 'export const chance = (): number => Math.random()', [PROPERTIES]],
  [ENGINE, 'export const talk = (): void => console.log("a")', ['eslint(no-console)']],
  ['src/backtest/walk', 'export const now = (): number => Date.now()', [PROPERTIES]],
  ['src/surfaces/http/server', 'export const talk = (): void => console.error("a")', ['eslint(no-console)']],
  [
    ENGINE,
    'const send = async (): Promise<void> => {}\nexport const go = (): void => { send() }',
    ['typescript(no-floating-promises)'],
  ],
  [
    ENGINE,
    'const send = async (): Promise<void> => {}\nexport const go = (): void => { void send() }',
    ['typescript(no-floating-promises)'],
  ],
  [
    ENGINE,
    'const send = async (): Promise<void> => {}\nexport const go = (): void => [1].forEach(send)',
    ['typescript(no-misused-promises)'],
  ],
  [ENGINE, 'export const go = (f: () => void): void => { try { f() } catch {} }', ['eslint(no-empty)']],
  [
    ENGINE,
    'export const name = (text: string): string => JSON.parse(text)',
    ['typescript(no-unsafe-return)'],
  ],
  [ENGINE, 'export const name = (value: any): unknown => value', ['typescript(no-explicit-any)']],
  [ENGINE, 'export const name = (value?: string): string => value!', ['typescript(no-non-null-assertion)']],
  [
    ENGINE,
    'export const name = (value: "a" | "b"): void => { switch (value) { case "a": } }',
    ['typescript(switch-exhaustiveness-check)'],
  ],
  [ENGINE, 'export type Name = import("../ports/clock.ts").Clock', ['typescript(consistent-type-imports)']],
  [`${ENGINE}.test`, 'import { it } from "vitest"\nit.only("a", () => {})', ['vitest(no-focused-tests)']],

  // Code that stays allowed.
  [CORE, 'export const iso = (ms: number): string => new Date(ms).toISOString()', []],
  [CORE, 'export const root = (square: number): number => Math.sqrt(square)', []],
  [CORE, 'export const ms = (iso: string): number => Date.parse(iso)', []],
  [`${CORE}.test`, 'export const later = async (): Promise<void> => { await Promise.resolve() }', []],
  [ENGINE, 'export const later = (): void => { setTimeout(() => {}, 1) }', []],
  ['src/surfaces/cli/health', 'export const talk = (): void => console.log("a")', []],
  ['src/adapters/platform/clock/clock', 'export const now = (): number => Date.now()', []],
]

/** A page of the dashboard and its sheet that import each other. */
const CYCLE = {
  'dashboard/src/page.ts': "import { sheet } from './sheet.ts'\nexport const page = (): unknown => sheet",
  'dashboard/src/sheet.ts': "import { page } from './page.ts'\nexport const sheet = (): unknown => page",
}

let folder: string
let brokenRulesOf: ReadonlyMap<string, readonly string[]>

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lint-rules-'))
  for (const name of ['.oxlintrc.json', 'tsconfig.json', 'tools/lint-rules.mjs']) {
    cpSync(join(ROOT, name), join(folder, name))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  put('src/ports/clock.ts', 'export interface Clock {}')
  for (const [index, ban] of BANS.entries()) put(fileOf(ban, index), ban[1])
  for (const [file, text] of Object.entries(CYCLE)) put(file, text)
  brokenRulesOf = lint()
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('the linter', () => {
  it.each(BANS.map((ban, index) => [ban[0], ban[1], ban[2], fileOf(ban, index)] as const))(
    'says in %s to %s: %j',
    (_, _text, rules, file) => {
      expect(brokenRulesOf.get(file) ?? []).toEqual(rules)
    },
  )

  it('rejects pages of the dashboard that import each other', () => {
    for (const file of Object.keys(CYCLE)) expect(brokenRulesOf.get(file)).toEqual(['import(no-cycle)'])
  })

  it('is shown every ban of core here', () => {
    const { overrides } = JSON.parse(oxlint('--print-config')) as { readonly overrides: readonly Override[] }
    const { 'no-restricted-globals': globals, 'no-restricted-properties': properties } =
      overrides.at(-1)?.rules ?? {}
    expect(globals?.[1].toSorted()).toEqual(CORE_GLOBALS.toSorted())
    expect(properties?.[1].map(({ property }) => property).toSorted()).toEqual(CORE_PROPERTIES.toSorted())
  })
})

/** One file each: `src/core/signals/signals-3.test.ts`. */
const fileOf = ([file]: Ban, index: number): string => `${file.replace(/(\.test)?$/, `-${index}$1`)}.ts`

/** The last override is core's. */
interface Override {
  readonly rules: {
    readonly 'no-restricted-globals'?: readonly [string, readonly string[]]
    readonly 'no-restricted-properties'?: readonly [string, readonly { readonly property: string }[]]
  }
}

interface Diagnostic {
  readonly code: string
  readonly filename: string
}

const oxlint = (...args: readonly string[]): string =>
  spawnSync(process.execPath, [join(ROOT, 'node_modules/oxlint/bin/oxlint'), ...args], {
    cwd: folder,
    encoding: 'utf8',
  }).stdout

const lint = (): ReadonlyMap<string, readonly string[]> => {
  const { diagnostics } = JSON.parse(oxlint('-f', 'json', 'src', 'dashboard')) as {
    readonly diagnostics: readonly Diagnostic[]
  }
  const files = [...new Set(diagnostics.map(({ filename }) => filename))]
  return new Map(files.map((file) => [file, rulesIn(file, diagnostics)]))
}

const rulesIn = (file: string, diagnostics: readonly Diagnostic[]): readonly string[] =>
  [...new Set(diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code))].toSorted()

const put = (file: string, content: string): void => {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${content}\n`)
}
