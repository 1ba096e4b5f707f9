import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { barsFrom } from '../../../core/market/bars.fixture.ts'
import { NO_FACTS } from '../../../core/strategies/direct.ts'
import type { ParameterValues } from '../../../core/strategies/strategy.ts'
import { describeOwnStrategy } from '../files/own-strategies.ts'
import { writeOwnFiles } from '../files/templates.ts'
import { describeProcessStrategy } from './process-strategy.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'programs-'))
})

afterAll(() => rm(folder, { recursive: true }))

const OPTIONS = { loadMsMax: 30_000, answerMsMax: 30_000, onOutput: () => undefined }
const BEGIN = '2026-01-01T00:00:00.000Z'

/** A program in JavaScript, which every machine that runs the tests has; `answer(message)` is its body. */
const program = async (name: string, body: string, settings = ''): Promise<string> => {
  await writeFile(
    join(folder, `${name}.mjs`),
    `import { createInterface } from 'node:readline'
const say = (value) => process.stdout.write(JSON.stringify(value ?? null) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  ${body}
}`,
  )
  const path = join(folder, `${name}.yaml`)
  const command = JSON.stringify([process.execPath, `${name}.mjs`])
  await writeFile(path, `command: ${command}\ntimeframes: [1m]\n${settings}`)
  return path
}

const decidedBy = async (name: string, options = OPTIONS, parameters: ParameterValues = {}) => {
  const source = await describeProcessStrategy({ name, path: join(folder, `${name}.yaml`) }, options)
  const opened = await source.open(parameters, { analysisSeconds: () => 900 })
  try {
    opened.add(barsFrom(BEGIN, [100, 101, 102]))
    return await opened.decide(NO_FACTS)
  } finally {
    await opened.close()
  }
}

describe('a strategy that is a program', () => {
  it.runIf(process.platform !== 'win32')('that hangs ends with all that it started', async () => {
    await writeFile(
      join(folder, 'starts.mjs'),
      `import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'inherit' })
writeFileSync('starts.pid', String(pid))
process.stdin.resume()`,
    )
    const command = JSON.stringify([process.execPath, 'starts.mjs'])
    await writeFile(join(folder, 'starts.yaml'), `command: ${command}\ntimeframes: [1m]\n`)
    await expect(decidedBy('starts', { ...OPTIONS, loadMsMax: 3000 })).rejects.toThrow('no answer')
    const pid = Number(await readFile(join(folder, 'starts.pid'), 'utf8'))
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5000)
  })

  it('has no name of a built-in one', async () => {
    await program('hold', 'say()')
    await expect(decidedBy('hold')).rejects.toThrow('hold is the name of a built-in strategy')
  })

  it('gets its parameters, then a line for each bar, and answers', async () => {
    const settings = 'parameters: { n: { type: integer, default: 7, minimum: 1 } }'
    await program(
      'counts',
      `if (message.type === 'start') { globalThis.n = message.parameters.n; say() }
       else say(message.warm_up ? null : { side: 'long', reason: n + ':' + message.bar.close + ':' + message.account.equity_usd })`,
      settings,
    )
    expect(await decidedBy('counts')).toEqual([
      { symbol: 'BTC', side: 'long', conviction: 75, reason: '7:102:0' },
    ])
    expect(await decidedBy('counts', OPTIONS, { n: '3' })).toMatchObject([{ reason: '3:102:0' }])
    await expect(decidedBy('counts', OPTIONS, { n: '0' })).rejects.toThrow('n 7, from 1')
  })

  it.each([
    [
      'ends',
      "if (message.type === 'bar') { process.stderr.write('no more'); process.exit(3) } say()",
      'it ended with exit code 3: no more',
    ],
    ['garbles', "process.stdout.write('not json\\n')", 'its answer is no JSON: not json'],
    [
      'chatters',
      "process.stdout.write('null\\nnull\\nnull\\n')",
      'it wrote a line that it was not asked for',
    ],
    ['boasts', "process.stdout.write('x'.repeat(100000))", 'it wrote a line of more than 65536 characters'],
    ['misleads', "say(message.type === 'start' ? null : { side: 'up' })", 'its answer is wrong: side'],
  ])('that %s is an error', async (name, body, message) => {
    await program(name, body)
    await expect(decidedBy(name)).rejects.toThrow(`${name}: ${message}`)
  })

  it('that is silent is ended', async () => {
    await program('waits', '')
    await expect(decidedBy('waits', { ...OPTIONS, loadMsMax: 300 })).rejects.toThrow(
      'no answer in 0.3 seconds',
    )
  })

  it('that does not exist can be closed before it is known', async () => {
    await writeFile(join(folder, 'hasty.yaml'), 'command: [no-such-program]\ntimeframes: [1m]')
    const source = await describeProcessStrategy({ name: 'hasty', path: join(folder, 'hasty.yaml') }, OPTIONS)
    const opened = await source.open({}, { analysisSeconds: () => 900 })
    opened.add(barsFrom(BEGIN, [100, 101, 102]))
    const decided = Promise.resolve(opened.decide(NO_FACTS))
    decided.catch(() => undefined)

    await opened.close()

    await expect(decided).rejects.toThrow('hasty: ')
  })

  it('that does not exist is an error', async () => {
    await writeFile(join(folder, 'nobody.yaml'), 'command: [no-such-program-here]')
    await expect(decidedBy('nobody')).rejects.toThrow('nobody: cannot run no-such-program-here')
  })

  it.each([
    ['empty', '', 'file: '],
    ['textual', 'command: python3', 'command: '],
    ['unknown', 'command: [x]\ncomand: [y]', 'comand'],
    ['broken', 'command: [', 'broken: '],
    [
      'default',
      'command: [x]\nparameters: { n: { type: integer, default: 0, minimum: 1 } }',
      'default: every parameter needs a default that is valid: n',
    ],
  ])('whose settings are %s is refused', async (name, text, message) => {
    await writeFile(join(folder, `${name}.yaml`), text)
    await expect(decidedBy(name)).rejects.toThrow(message)
  })
})

const hasPython = spawnSync('python3', ['-c', 'print(1)']).status === 0

describe.skipIf(!hasPython)('the example in Python', () => {
  it('decides as the one in TypeScript does', async () => {
    await writeOwnFiles(folder, 'snake', 'python')
    await writeOwnFiles(folder, 'cross', 'typescript')
    const parameters = { fast: 2, slow: 5 }
    const analysis = { analysisSeconds: () => 900 }
    const closes = Array.from({ length: 80 }, (_, index) => 100 + 10 * Math.sin(index / 4))
    const bars = barsFrom(BEGIN, closes, { resolution_s: 900 })
    const one = await describeProcessStrategy({ name: 'snake', path: join(folder, 'snake.yaml') }, OPTIONS)
    const other = await describeOwnStrategy({ name: 'cross', path: join(folder, 'cross.ts') }, OPTIONS)
    const sidesOf = async (source: typeof one): Promise<readonly string[]> => {
      const opened = await source.open(parameters, analysis)
      const sides: string[] = []
      for (const bar of bars) {
        opened.add([bar])
        sides.push((await opened.decide(NO_FACTS)).map(({ side }) => side).join() || 'nothing')
      }
      await opened.close()
      return sides
    }
    const sides = await sidesOf(one)
    // The program says that it needs 50 bars, whatever its parameters.
    expect(sides.slice(50)).toEqual((await sidesOf(other)).slice(50))
    expect(new Set(sides.slice(50))).toEqual(new Set(['long', 'nothing']))
  })
})
