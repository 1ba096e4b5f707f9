import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../../files.ts'

export type OwnFileKind = 'typescript' | 'python' | 'producer'

export type WrittenFiles =
  | { readonly status: 'written'; readonly files: readonly string[] }
  | { readonly status: 'refused'; readonly reason: string }

/** The files of a new strategy or producer. Nothing that exists is replaced: then none is written. */
export const writeOwnFiles = async (
  folder: string,
  name: string,
  kind: OwnFileKind,
): Promise<WrittenFiles> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = Object.entries(filesOf(name, kind)).map(([file, text]) => ({
    path: join(folder, file),
    text,
  }))
  // The name is taken whatever the language is.
  const written = new Set(Object.keys(filesOf(name, kind)))
  const taken = (await readdir(folder)).find(
    (file) => file.replace(/\.[^.]+$/, '') === name || written.has(file),
  )
  if (taken !== undefined) return { status: 'refused', reason: `${join(folder, taken)} exists already` }
  for (const { path, text } of files) await writeFile(path, text, { flag: 'wx', mode: 0o600 })
  return { status: 'written', files: files.map(({ path }) => path) }
}

/** For editors: where the types of the imports are. One that is there is kept. */
export const writeEditorSettings = async (
  folder: string,
  paths: Readonly<Record<string, string>>,
): Promise<void> => {
  const settings = {
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      paths: Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, [path]])),
    },
  }
  const text = `${JSON.stringify(settings, null, 2)}\n`
  await orNull('EEXIST', writeFile(join(folder, 'tsconfig.json'), text, { flag: 'wx', mode: 0o600 }))
}

const filesOf = (name: string, kind: OwnFileKind): Readonly<Record<string, string>> => {
  switch (kind) {
    case 'typescript':
      return { [`${name}.ts`]: strategyText(name), [`${name}.test.ts`]: testText(name) }
    case 'python':
      return { [`${name}.yaml`]: settingsText(name), [`${name}.py`]: PYTHON }
    case 'producer':
      return { [`${name}.ts`]: producerText(name) }
  }
}

/** The example of docs/strategies.md. */
const strategyText = (name: string): string => `import { defineStrategy } from 'signal-engine/strategy'
import { SMA } from 'trading-signals'
import { z } from 'zod'

/** Long while the fast moving average is above the slow one; no position while it is below. */
export default defineStrategy({
  name: '${name}',
  description: 'a moving-average cross',
  timeframes: ['15m'],
  parameters: z.object({
    fast: z.int().min(2).max(200).default(10),
    slow: z.int().min(3).max(500).default(50),
  }),
  warmUpBars: ({ slow }) => slow,
  create: ({ fast, slow }) => {
    const [quick, calm] = [new SMA(fast), new SMA(slow)]
    return {
      onBar: ({ bar, position }) => {
        const [now, trend] = [quick.add(bar.close), calm.add(bar.close)]
        if (now === null || trend === null) return null
        if (now <= trend) return position === null ? null : { side: 'flat', reason: 'below the slow average' }
        return { side: 'long', size: 0.1, stop: { percent: 3, trailing: true }, target: null, reason: 'above it' }
      },
    }
  },
})
`

const testText = (name: string): string => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tryStrategy } from 'signal-engine/strategy'
import strategy from './${name}.ts'

const flat = Array.from({ length: 20 }, () => 100)
const parameters = { fast: 2, slow: 5 }

test('${name} goes long when the price rises', () => {
  const proposals = tryStrategy(strategy, { closes: [...flat, 110], parameters }).flat()
  assert.equal(proposals.length, 1)
  assert.equal(proposals[0]?.side, 'long')
})

test('${name} closes its position when the price falls', () => {
  const closes = [...flat, 90]
  assert.deepEqual(tryStrategy(strategy, { closes, parameters }).at(-1), [])
  const held = tryStrategy(strategy, { closes, parameters, positions: [{ side: 'long' }] }).at(-1)
  assert.equal(held?.[0]?.side, 'flat')
})
`

const settingsText = (
  name: string,
): string => `# A strategy in any language: it reads a line of JSON for each closed bar, and answers with one.
command: [python3, ${name}.py]
description: a moving-average cross
timeframes: [15m]
warm_up_bars: 50
parameters:
  fast: { type: integer, default: 10, minimum: 2, maximum: 200 }
  slow: { type: integer, default: 50, minimum: 3, maximum: 500 }
`

const PYTHON = `import json
import sys

closes = {}
parameters = {}


def mean(values):
    return sum(values) / len(values)


def on_bar(symbol, bar, positions):
    known = closes.setdefault(symbol, [])
    known.append(bar["close"])
    del known[: -parameters["slow"]]
    if len(known) < parameters["slow"]:
        return None
    if mean(known[-parameters["fast"] :]) > mean(known):
        return {"side": "long", "size": 0.1, "stop": {"percent": 3, "trailing": True}}
    is_held = any(position["own"] and position["symbol"] == symbol for position in positions)
    return {"side": "flat"} if is_held else None


for line in sys.stdin:
    message = json.loads(line)
    answer = None
    if message["type"] == "start":
        parameters = message["parameters"]
    else:
        answer = on_bar(message["symbol"], message["bar"], message["positions"])
    print(json.dumps(answer), flush=True)
`

const producerText = (name: string): string => `import { defineProducer } from 'signal-engine/producer'

/** How far each symbol moved in a day. Known types carry weight: see docs/events.md. */
export default defineProducer({
  name: '${name}',
  domain: 'technical',
  schedule: '*/15 * * * *',
  run: ({ symbols }) => {
    const rows = symbols.flatMap(({ symbol, return24h }) =>
      return24h === null ? [] : [{ type: 'signal.technical.day_move.v1', payload: { symbol, return_24h: return24h } }],
    )
    if (rows.length > 0) return { status: 'ran', rows }
    return { status: 'degraded', reason: 'no symbol has a day of prices yet' }
  },
})
`
