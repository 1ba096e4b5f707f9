import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INITIAL_STATE } from '../../../core/state.ts'
import { barsFrom } from '../../../core/market/bars.fixture.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { marketView } from '../../../core/market/readings.ts'
import { NO_FACTS } from '../../../core/strategies/direct.ts'
import type { ParameterValues, StrategyProposal } from '../../../core/strategies/strategy.ts'
import { findOwnFiles } from './find-files.ts'
import { loadInside } from './inside-strategies.ts'
import { loadStrategy } from './load-definition.ts'
import { openOwnProducer } from './own-producers.ts'
import { describeOwnStrategy } from './own-strategies.ts'
import { writeOwnFiles } from './templates.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strategies-'))
})

afterAll(() => rm(folder, { recursive: true }))

const output: string[] = []
const OPTIONS = {
  loadMsMax: 30_000,
  answerMsMax: 30_000,
  onOutput: (text: string) => void output.push(text),
}

/** A file with a strategy whose onBar has this body. */
const strategyFile = async (name: string, body: string, rest = ''): Promise<string> => {
  const path = join(folder, `${name}.ts`)
  await writeFile(
    path,
    `import { defineStrategy, z } from 'signal-engine/strategy'
export default defineStrategy({
  name: '${name}', parameters: z.object({ n: z.int().min(1).default(1) }), timeframes: ['1m'], warmUpBars: 0, ${rest}
  create: ({ n }: { n: number }) => ({ onBar: (view) => { ${body} } }),
})`,
  )
  return path
}

/** Where the code runs: in this process, as in a backtest, or in a process of its own, as in a service. */
type Place = { readonly isInside: boolean } & Partial<typeof OPTIONS>

const INSIDE: Place = { isInside: true }
const APART: Place = { isInside: false }

const described = (name: string, { isInside, ...options }: Place) => {
  const file = { name, path: join(folder, `${name}.ts`) }
  return isInside
    ? loadInside(file, { onReturn: () => undefined, translations: new Map() })
    : describeOwnStrategy(file, { ...OPTIONS, ...options })
}

const MINUTES = barsFrom('2026-01-01T00:00:00.000Z', [100, 101, 102])

const decided = async (
  name: string,
  options: Place,
  { bars = MINUTES, parameters = {} }: { bars?: readonly FeedBar[]; parameters?: ParameterValues } = {},
): Promise<readonly StrategyProposal[]> => {
  const source = await described(name, options)
  const opened = await source.open(parameters, { analysisSeconds: () => 900 })
  try {
    opened.add(bars)
    expect(opened.isDue).toBe(true)
    return await opened.decide(NO_FACTS)
  } finally {
    await opened.close()
  }
}

describe.each([INSIDE, APART])('a strategy in a file, %o', (options) => {
  it('is loaded as TypeScript, with its packages, and decides', async () => {
    await writeOwnFiles(folder, `cross-${options.isInside}`, 'typescript')
    const name = `cross-${options.isInside}`
    const bars = barsFrom('2026-01-01T00:00:00.000Z', [1, 1, 1, 1, 1, 2], { resolution_s: 900 })
    const source = await described(name, options)
    expect(source).toMatchObject({
      name,
      timeframes: ['15m'],
      parameters: [{ name: 'fast' }, { name: 'slow' }],
    })
    expect(await decided(name, options, { bars, parameters: { fast: 2, slow: '5' } })).toMatchObject([
      { symbol: 'BTC', side: 'long', sizePct: 0.1, stopPct: 0.03, trailingPct: 0.03, targetPct: null },
    ])
  })

  it('that throws is an error with its line, and goes on', async () => {
    await strategyFile(
      'throws',
      `if (view.bar.close === 102) throw new Error('oops'); return { side: 'long' }`,
    )
    await expect(decided('throws', options)).rejects.toThrow(/throws: oops \(throws\.ts:\d+\)/)
  })

  it('that floods is an error', async () => {
    await strategyFile('floods', `return Array.from({ length: 500 }, () => ({ side: 'long' as const }))`)
    await expect(decided('floods', options)).rejects.toThrow('floods: it answered 500 times')
  })

  it('that waits for something is an error', async () => {
    await strategyFile('waits', `return Promise.resolve({ side: 'long' }) as never`)
    await expect(decided('waits', options)).rejects.toThrow('waits: onBar answered a promise')
  })

  it('that fails in a long warm-up is an error', async () => {
    await strategyFile('early', `if (view.bar.close === 77) throw new Error('oops'); return { side: 'long' }`)
    const closes = Array.from({ length: 6000 }, (_, index) => (index === 100 ? 77 : 100))
    const bars = barsFrom('2026-01-01T00:00:00.000Z', closes)
    await expect(decided('early', options, { bars })).rejects.toThrow(/oops/)
  })

  it('is due when a bar was left incomplete by a gap, as soon as that is known', async () => {
    const name = `gap-${options.isInside}`
    await writeOwnFiles(folder, name, 'typescript')
    const opened = await (await described(name, options)).open({}, { analysisSeconds: () => 900 })
    // Thirteen minutes of a quarter of an hour, and then one of the next.
    const minutes = barsFrom(
      '2026-01-01T00:00:00.000Z',
      Array.from({ length: 16 }, () => 100),
    )
    opened.add(minutes.slice(0, 13))
    expect(opened.isDue).toBe(false)
    opened.add(minutes.slice(15))
    expect(opened.isDue).toBe(true)
    await opened.close()
  })
})

describe('a strategy in a file, in a process of its own', () => {
  it('that does not end is ended', async () => {
    await strategyFile('hangs', 'for (;;) {}')
    await expect(decided('hangs', { ...APART, answerMsMax: 300 })).rejects.toThrow(
      'hangs: no answer in 0.3 seconds',
    )
  })

  it('that ends its process is an error', async () => {
    await strategyFile('exits', 'process.exit(0)')
    await expect(decided('exits', APART)).rejects.toThrow(
      'exits: its process ended: it must not call process.exit',
    )
  })

  it('that takes all memory is an error', async () => {
    await strategyFile('eats', 'const all: unknown[] = []; for (;;) all.push(new Array(100000).fill(1.5))')
    await expect(decided('eats', APART)).rejects.toThrow('eats: out of memory: it may use 512 MB')
  })

  it('that takes all memory in a long warm-up is an error', async () => {
    await strategyFile('hoards', 'const all: unknown[] = []; for (;;) all.push(new Array(100000).fill(1.5))')
    const bars = barsFrom(
      '2026-01-01T00:00:00.000Z',
      Array.from({ length: 6000 }, () => 100),
    )
    await expect(decided('hoards', APART, { bars })).rejects.toThrow('hoards: out of memory')
  })
})

describe('a file of a strategy', () => {
  it.each([
    ['no-default', 'export const strategy = {}', 'it has no default export'],
    ['other-name', "export default { name: 'another' }", 'it is named another, but its file other-name'],
    ['hold', "export default { name: 'hold' }", 'hold is the name of a built-in strategy'],
    ['plain', "export default { name: 'plain', parameters: {} }", 'parameters must be a zod object'],
    ['syntax', 'export default {', 'syntax: '],
    ['missing', "import 'left-pad'; export default {}", 'left-pad'],
  ])('%s is refused', async (name, text, message) => {
    await writeFile(join(folder, `${name}.ts`), text)
    await expect(described(name, APART)).rejects.toThrow(message)
  })

  it('whose parameters have no default is refused', async () => {
    await strategyFile('bare', 'return null', 'parameters: z.object({ n: z.number() }),')
    await expect(described('bare', APART)).rejects.toThrow('every parameter needs a default')
    await strategyFile('odd', 'return null', "timeframes: ['7m'],")
    await expect(described('odd', APART)).rejects.toThrow('the timeframe 7m is not')
  })

  it('that hangs while it is loaded is given up', async () => {
    await writeFile(join(folder, 'endless.ts'), 'for (;;) {}')
    await expect(described('endless', { ...APART, loadMsMax: 500 })).rejects.toThrow('endless: no answer')
  })

  it('is translated once, and again when it has changed', async () => {
    const written = (bars: number) => strategyFile('edited', 'return null', `warmUpBars: ${bars},`)
    const file = await written(11)
    const translations = new Map<string, string>()
    const warmUpBars = async () => (await loadStrategy(file, 'edited', translations)).warmUpBars
    expect(await warmUpBars()).toBe(11)
    for (const [key, code] of translations)
      translations.set(key, code.replace('warmUpBars: 11', 'warmUpBars: 22'))
    expect(await warmUpBars()).toBe(22)
    await written(33)
    expect(await warmUpBars()).toBe(33)
  })

  it('is opened as it is then, not as it was described', async () => {
    await strategyFile('renewed', `return { side: 'long' }`)
    const source = await described('renewed', APART)
    const sideOf = async (): Promise<string | undefined> => {
      const opened = await source.open({}, { analysisSeconds: () => 900 })
      try {
        opened.add(MINUTES)
        return (await opened.decide(NO_FACTS))[0]?.side
      } finally {
        await opened.close()
      }
    }
    expect(await sideOf()).toBe('long')
    await strategyFile('renewed', `return { side: 'short' }`)
    expect(await sideOf()).toBe('short')
  })

  it('is refused with wrong parameters', async () => {
    await strategyFile('picky', 'return null')
    const source = await described('picky', APART)
    const open = (parameters: ParameterValues) => source.open(parameters, { analysisSeconds: () => 900 })
    await expect(open({ n: 0 })).rejects.toThrow('picky: n: ')
    await expect(open({ m: 1 })).rejects.toThrow('no parameter is named m, did you mean n?')
    expect(await source.faultsOf([{ n: 2 }, { n: 0 }, {}, { m: 1 }])).toEqual([
      null,
      expect.stringMatching(/^n: /),
      null,
      expect.stringContaining('no parameter is named m, did you mean n?'),
    ])
  })

  it('knows none of our secrets, and what it prints is passed on', async () => {
    process.env['SVC_MASTER_PASSWORD'] = 'secret-of-the-vault'
    await strategyFile('curious', `console.log('seen:' + process.env['SVC_MASTER_PASSWORD']); return null`)
    await decided('curious', APART)
    delete process.env['SVC_MASTER_PASSWORD']
    await expect.poll(() => output.join('')).toContain('seen:undefined')
  })

  it('in a service cannot answer past the checks of what it answers', async () => {
    await strategyFile(
      'forger',
      `(process as any).send({ status: 'ok', answer: [{ symbol: 'BTC', side: 'sideways', conviction: 1e9 }] })
      return null`,
    )
    await expect(decided('forger', APART)).rejects.toThrow('forger: its answer is wrong: 0.side')
  })

  it('takes a long past in parts', async () => {
    await strategyFile('patient', `return view.bars().length >= 500 ? { side: 'long' } : null`)
    const bars = barsFrom(
      '2026-01-01T00:00:00.000Z',
      Array.from({ length: 12_001 }, () => 100),
    )
    expect(await decided('patient', APART, { bars })).toHaveLength(1)
  })
})

describe('files of the user', () => {
  it('are found by name; tests, settings and hidden ones are not', async () => {
    const other = await mkdtemp(join(tmpdir(), 'strategies-'))
    for (const file of [
      'b.ts',
      'a.yaml',
      'a.test.ts',
      'c.d.ts',
      '.d.ts',
      'tsconfig.json',
      'x.py',
      'Big.js',
      'b.js',
    ])
      await writeFile(join(other, file), '')
    await mkdir(join(other, 'folder.ts'))
    const found = await findOwnFiles(other)
    expect(found.map(({ name, fault }) => [name, fault === null])).toEqual([
      ['Big', false],
      ['a', true],
      ['b', false],
      ['b', false],
    ])
    await rm(other, { recursive: true })
    expect(await findOwnFiles(join(other, 'nothing'))).toEqual([])
  })

  it('are never replaced by new ones', async () => {
    await writeFile(join(folder, 'mine.js'), 'mine')
    expect(await writeOwnFiles(folder, 'mine', 'typescript')).toMatchObject({ status: 'refused' })
    expect(await readFile(join(folder, 'mine.js'), 'utf8')).toBe('mine')
    expect((await findOwnFiles(folder)).map(({ path }) => path)).not.toContain(join(folder, 'mine.ts'))
  })
})

describe.each([{ isBacktest: true }, { isBacktest: false }])('a producer in a file, %o', ({ isBacktest }) => {
  const opened = async (name: string, text: string) => {
    const path = join(folder, `${name}.ts`)
    await writeFile(path, text)
    return openOwnProducer({ name, path }, { ...OPTIONS, isBacktest })
  }
  const VIEW = marketView(INITIAL_STATE.market, ['BTC'])

  it('is described, and runs', async () => {
    const name = `moves-${isBacktest}`
    await writeOwnFiles(folder, name, 'producer')
    const producer = await openOwnProducer(
      { name, path: join(folder, `${name}.ts`) },
      { ...OPTIONS, isBacktest },
    )
    expect(producer).toMatchObject({ name, domain: 'technical', schedule: '*/15 * * * *' })
    expect(await producer.run(VIEW)).toEqual({
      status: 'degraded',
      reason: 'no symbol has a day of prices yet',
    })
    await producer.close()
  })

  it.each([
    ['p-wrong', "run: () => 'nothing'", 'its answer is wrong'],
    ['p-rows', "run: () => ({ status: 'ran', rows: [{ type: 1 }] })", 'its answer is wrong: rows.0'],
    ['p-throws', "run: () => { throw new Error('oops') }", 'oops'],
  ])('%s fails', async (name, run, message) => {
    const text = `export default { name: '${name}', domain: 'technical', schedule: '* * * * *', ${run} }`
    const producer = await opened(name, text)
    await expect(producer.run(VIEW)).rejects.toThrow(message)
    await producer.close()
  })

  it.each([
    ['p-cron', "domain: 'technical', schedule: 'often', run: () => null", 'schedule must be'],
    ['p-domain', "schedule: '* * * * *', run: () => null", 'domain must be'],
    ['p-run', "domain: 'technical', schedule: '* * * * *'", 'run must be'],
    ['technical-analysis', "domain: 'technical'", 'is the name of a built-in producer'],
  ])('%s is refused', async (name, members, message) => {
    await expect(opened(name, `export default { name: '${name}', ${members} }`)).rejects.toThrow(message)
  })
})
