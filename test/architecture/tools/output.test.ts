import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

interface Step {
  readonly name: string
  readonly run: () => Promise<string | undefined>
}

interface StepsTool {
  readonly runSteps: (steps: readonly Step[], print: (text: string) => void) => Promise<Counts>
  readonly closingLine: (counts: Counts) => string
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const { runSteps, closingLine } = (await import(join(ROOT, 'tools/steps.mjs'))) as StepsTool

describe('the steps', () => {
  it('go on after a failure, which is shown in full', async () => {
    const printed: string[] = []
    const counts = await runSteps(
      [
        { name: 'good', run: async () => undefined },
        { name: 'bad', run: async () => 'line one\nline two\n' },
        { name: 'later', run: async () => undefined },
      ],
      (text) => printed.push(text),
    )
    expect(counts).toEqual({ passed: 2, failed: 1, skipped: 0 })
    expect(printed.join('').replaceAll(/ +[\d.]+ s/g, '')).toBe(
      '✓ good\n✗ bad\n\nline one\nline two\n\n✓ later\n',
    )
  })

  it('end in a line that machines can read', () => {
    expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed\n')
    expect(closingLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped\n')
  })

  it('belong to a command that has a name', () => {
    const { status, stderr } = spawnSync(process.execPath, ['tools/run.mjs', 'dance'], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toContain('usage: node tools/run.mjs bench|build|check|start|test')
  })
})

describe('the reporter', () => {
  /** A file of each kind: what is in it, and what it adds to the count. */
  const FILES: Readonly<Record<string, readonly [code: string, counts: Counts]>> = {
    mixed: [
      `it('a', () => {}); it('b', () => { throw 1 }); it.skip('c'); it.todo('d')`,
      { passed: 1, failed: 1, skipped: 2 },
    ],
    'does-not-load': [`import './nowhere.js'; it('a', () => {})`, { passed: 0, failed: 1, skipped: 0 }],
    'without-tests': [``, { passed: 0, failed: 1, skipped: 0 }],
    'fails-before': [
      `describe('d', () => { beforeAll(() => { throw 1 }); it('a', () => {}) })`,
      { passed: 0, failed: 1, skipped: 1 },
    ],
    'fails-after': [
      `describe('d', () => { afterAll(() => { throw 1 }); it('a', () => {}) })`,
      { passed: 1, failed: 1, skipped: 0 },
    ],
    'not-caught': [
      `it('a', async () => { Promise.reject(new Error()); await new Promise(setImmediate) })`,
      { passed: 1, failed: 1, skipped: 0 },
    ],
    dies: [`it('a', () => process.kill(process.pid, 'SIGKILL'))`, { passed: 0, failed: 1, skipped: 1 }],
  }

  let home: string

  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'reporter-'))
    symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'))
    for (const [name, [code]] of Object.entries(FILES)) {
      const imports = `import { afterAll, beforeAll, describe, it } from 'vitest'\n`
      writeFileSync(join(home, `${name}.test.js`), imports + code)
    }
  })

  afterAll(() => {
    rmSync(home, { recursive: true })
  })

  it('counts also what fails outside of a test, in the last line of all', () => {
    const sum = (kind: keyof Counts): number =>
      Object.values(FILES).reduce((total, [, counts]) => total + counts[kind], 0)
    const counts = { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
    expect(vitest()).toEqual({ lastLine: closingLine(counts).trimEnd(), status: 1 })
  })

  it('does not call a run good that found nothing to run', () => {
    expect(vitest('nowhere')).toEqual({ lastLine: '0 passed, 1 failed', status: 1 })
  })

  const vitest = (...args: readonly string[]) => {
    const reporters = ['--reporter=default', `--reporter=${join(ROOT, 'tools/closing-line-reporter.mjs')}`]
    // The variables of the run that this test is part of are not for the run inside.
    const env = { ...process.env, SIGNAL_ENGINE_TEST_COUNTS: undefined, VITEST: undefined }
    const { stdout, status } = spawnSync(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', ...args, ...reporters],
      { cwd: home, encoding: 'utf8', env },
    )
    return { lastLine: stdout.trimEnd().split('\n').at(-1), status }
  }
})

describe('a service under npm', () => {
  /** Prints and ends as it is told: it stops on the first signal, which takes until the end of its input. */
  const SERVICE = `
    import { hideRepeatedSignals } from '${join(ROOT, 'tools/signals.mjs')}'
    hideRepeatedSignals(Infinity)
    const life = setInterval(() => {}, 1000)
    const stop = () => {
      console.log('stopping')
      process.stdin.resume().on('end', () => {
        clearInterval(life)
        console.log('stopped')
      })
    }
  `

  it.each([
    [
      'ends at the second signal',
      `let n = 0; process.on('SIGINT', () => { n += 1; if (n > 1) process.exit(1); stop() })`,
    ],
    ['listens only once', `process.once('SIGINT', stop)`],
  ])('finishes although Ctrl-C comes twice, if it %s', async (_name, listening) => {
    const service = run(`${SERVICE}${listening}\nconsole.log('up')`)
    const printed: string[] = []
    service.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text))
    await once(service.stdout, 'data')
    service.kill('SIGINT')
    await once(service.stdout, 'data')
    service.kill('SIGINT')
    service.stdin.end()
    expect(await once(service, 'close')).toEqual([0, null])
    expect(printed.join('')).toBe('up\nstopping\nstopped\n')
  })

  it('ends at once as long as it does not listen yet', async () => {
    const service = run(`${SERVICE}console.log('up')`)
    await once(service.stdout, 'data')
    service.kill('SIGTERM')
    expect(await once(service, 'close')).toEqual([143, null])
  })

  const run = (code: string) =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
})
