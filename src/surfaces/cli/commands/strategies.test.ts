import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const write = async (file: string, text: string): Promise<void> => {
  await mkdir(join(home.folder, 'strategies'), { recursive: true })
  await writeFile(join(home.folder, 'strategies', file), text)
}

const run = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await home.run([...words, '--json'])
  return { exitCode, document: JSON.parse(stdout === '' ? stderr : stdout) }
}

describe('svc strategies', () => {
  it('lists the built-in rules with their parameters in a home without any', async () => {
    const { exitCode, document } = await run('strategies')
    expect(exitCode).toBe(0)
    expect(document.strategies).toMatchObject([
      { name: 'always_long', status: 'built in', parameters: [] },
      { name: 'hold', status: 'built in', parameters: [] },
      { name: 'ma_crossover', parameters: ['fast 10, 1 to 1000', 'slow 50, 2 to 2000'] },
      { name: 'momentum', parameters: ['bars 20, 1 to 1000', 'threshold 0.02, 0 to 1'] },
    ])
  })

  it('shows what is wrong with a file, beside the others', async () => {
    await run('new', 'strategy', 'cross')
    await write('broken.ts', 'export default 1')
    const { exitCode, document } = await run('strategies')
    expect(exitCode).toBe(1)
    expect(document.strategies.slice(4)).toMatchObject([
      { name: 'broken', status: 'broken', error: expect.stringContaining('no default export') },
      { name: 'cross', status: 'found', error: null },
    ])
  })

  it('looks at a few files at a time, so that many of them are read in time', async () => {
    // Code of a service writes no files: it says by a connection that it is being read.
    let open = 0
    const seen: number[] = []
    const counter = createServer((socket) => {
      open += 1
      seen.push(open)
      socket.on('error', () => undefined).on('close', () => (open -= 1))
      setTimeout(() => socket.end(), 700)
    })
    await once(counter.listen(0, '127.0.0.1'), 'listening')
    const { port } = counter.address() as AddressInfo
    const text = `import { once } from 'node:events'
import { connect } from 'node:net'
import { defineStrategy, z } from 'signal-engine/strategy'
await once(connect(${port}, '127.0.0.1').resume(), 'close')
export default defineStrategy({ name: 'NAME', parameters: z.object({}), warmUpBars: 0, create: () => ({ onBar: () => null }) })`
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      await write(`${name}.ts`, text.replaceAll('NAME', name))
    const { document } = await run('strategies')
    counter.close()
    expect(document.strategies.slice(4)).toMatchObject(Array.from({ length: 6 }, () => ({ status: 'found' })))
    expect(seen).toHaveLength(6)
    expect(Math.max(...seen)).toBeLessThanOrEqual(4)
  })

  it('writes no file whose name is that of something built in', async () => {
    for (const words of [
      ['strategy', 'momentum'],
      ['strategy', 'brain', '--python'],
      ['producer', 'price-alerts'],
    ]) {
      const { exitCode, document } = await run('new', ...words)
      expect({ exitCode, detail: document.detail }).toMatchObject({
        exitCode: 1,
        detail: expect.stringContaining('is the name of a built-in'),
      })
    }
    expect((await run('strategies')).document.strategies).toHaveLength(4)
  })

  it('enables and disables what is there, with parameters that are right', async () => {
    await run('new', 'strategy', 'cross')
    expect((await run('strategies', 'enable', 'cros')).document).toMatchObject({
      code: 'strategy.not_found',
      detail: expect.stringContaining('did you mean cross?'),
    })
    expect((await run('strategies', 'enable', 'cross', '--set', 'fast=1')).document).toMatchObject({
      code: 'strategy.failed',
    })
    const enabled = await run('strategies', 'enable', 'cross', '--set', 'fast=5', '--symbol', 'BTC', 'ETH')
    expect(enabled.exitCode).toBe(0)
    expect((await run('config', 'show')).document.strategies).toEqual({
      cross: { enabled: true, parameters: { fast: 5 }, symbols: ['BTC', 'ETH'] },
    })
    expect((await run('strategies')).document.strategies.at(-1)).toMatchObject({
      name: 'cross',
      status: 'trading',
      settings: { fast: 5 },
    })
    await run('strategies', 'disable', 'cross')
    expect((await run('strategies')).document.strategies.at(-1)).toMatchObject({ status: 'found' })
    expect((await run('strategies', 'disable', 'other')).document).toMatchObject({
      code: 'strategy.not_found',
    })
  })

  it('enables nothing that would never trade', async () => {
    for (const [name, reason] of [
      ['hold', 'for backtests only'],
      ['brain', 'the brain trades without being named'],
    ]) {
      const { exitCode, document } = await run('strategies', 'enable', name ?? '')
      expect({ exitCode, detail: document.detail }).toMatchObject({
        exitCode: 1,
        detail: expect.stringContaining(reason ?? ''),
      })
    }
    expect((await run('config', 'show')).document.strategies).toEqual({})
  })

  it('says so if the settings name one that is not there', async () => {
    await run('config', 'set', 'strategies', '{"gone":{"enabled":true}}')
    const { exitCode, document } = await run('strategies')
    expect(exitCode).toBe(1)
    expect(document.strategies.at(-1)).toMatchObject({ name: 'gone', status: 'missing' })
  })

  it('has no test to run in an empty home', async () => {
    expect((await run('strategies', 'test')).document).toMatchObject({ code: 'strategy.not_found' })
  })
})

describe('svc new', () => {
  it('writes a strategy that runs in a backtest, once', async () => {
    const { document } = await run('new', 'strategy', 'cross')
    expect(document.files).toEqual(
      ['cross.ts', 'cross.test.ts'].map((file) => join(home.folder, 'strategies', file)),
    )
    const words = [
      'backtest',
      '--strategy',
      'cross',
      '--symbol',
      'BTC',
      '--to',
      '2026-01-03',
      '--set',
      'slow=20',
    ]
    const tried = await run(...words, '--from', '2026-01-01')
    expect(tried.exitCode).toBe(0)
    expect(tried.document).toMatchObject({ strategy: 'cross', bars: 288 })
    expect((await run('new', 'strategy', 'cross')).document).toMatchObject({ code: 'file.exists' })
  })

  it('writes nothing where only the test is left of a strategy', async () => {
    await write('cross.test.ts', 'mine')
    expect((await run('new', 'strategy', 'cross')).document).toMatchObject({ code: 'file.exists' })
    expect(await readdir(join(home.folder, 'strategies'))).toEqual(['cross.test.ts'])
  })

  it('writes a producer', async () => {
    const { document } = await run('new', 'producer', 'day-move')
    expect(await readFile(document.files[0], 'utf8')).toContain("name: 'day-move'")
  })

  it.each(['Cross', '../cross', 'a b', '', 'x'.repeat(65)])('refuses the name %j', async (name) => {
    expect((await run('new', 'strategy', name)).exitCode).toBe(2)
  })
})

describe('svc backtest --strategy', () => {
  it('refuses what is unknown with the nearest name, and parameters that are wrong', async () => {
    expect((await run('backtest', '--strategy', 'momentun')).document).toMatchObject({
      code: 'strategy.not_found',
      detail: expect.stringContaining('did you mean momentum?'),
    })
    expect((await run('backtest', '--strategy', 'momentum', '--set', 'bar=5')).document).toMatchObject({
      code: 'strategy.failed',
      detail: expect.stringContaining('did you mean bars?'),
    })
    expect((await run('backtest', '--set', 'bars=5')).document).toMatchObject({ code: 'strategy.failed' })
    for (const wrong of ['bars', '=5', '5=5'])
      expect((await run('backtest', '--strategy', 'momentum', '--set', wrong)).exitCode).toBe(2)
    expect((await run('backtest', '--set', 'a=1', '--set', 'a=2')).exitCode).toBe(2)
  })

  it('ends with the error of a strategy that fails', async () => {
    await write(
      'fails.js',
      `import { z } from 'zod'
export default { name: 'fails', parameters: z.object({}), warmUpBars: 0, create: () => ({ onBar: () => { throw new Error('oops') } }) }`,
    )
    expect((await run('backtest', '--strategy', 'fails')).document).toMatchObject({
      code: 'strategy.failed',
      detail: expect.stringContaining('fails: oops (fails.js:'),
    })
  })
})
