import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStrategy } from '../../src/compose/strategies.ts'
import { createOwnFiles } from '../../src/compose/new-files.ts'
import { barsFrom } from '../../src/core/market/bars.fixture.ts'
import { NO_FACTS } from '../../src/core/strategies/direct.ts'

const GUIDE = await readFile('docs/strategies.md', 'utf8')

/** The code of the guide in a language, in its order. */
const examples = (language: string): readonly string[] =>
  [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, code = '']) => code)

let home = ''

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'guide-'))
  await mkdir(join(home, 'strategies'))
})

afterAll(() => rm(home, { recursive: true }))

const sidesOf = async (name: string, closes: readonly number[]): Promise<readonly string[]> => {
  const settings = { home, isBacktest: true, onOutput: () => undefined }
  const opened = await openStrategy(name, { fast: 2, slow: 5 }, settings)
  try {
    const sides: string[] = []
    for (const bar of barsFrom('2026-01-01T00:00:00.000Z', closes, { resolution_s: 900 })) {
      opened.add([bar])
      for (const { side } of await opened.decide(NO_FACTS)) sides.push(side)
    }
    return sides
  } finally {
    await opened.close()
  }
}

describe('docs/strategies.md', () => {
  it('has a moving-average cross in less than 30 lines, which runs', async () => {
    const [cross = ''] = examples('ts')
    expect(cross.trimEnd().split('\n').length).toBeLessThan(30)
    await writeFile(join(home, 'strategies', 'cross.ts'), cross)
    expect(await sidesOf('cross', [1, 1, 1, 1, 1, 2, 2.1])).toEqual(['long', 'long'])
  })

  it('shows what svc new strategy writes', async () => {
    const [file = ''] = await createOwnFiles(await mkdtemp(join(home, 'new-')), 'cross', 'typescript')
    expect(await readFile(file, 'utf8')).toBe(examples('ts')[0])
  })

  it.skipIf(spawnSync('python3', ['-c', '']).status !== 0)('describes a program that runs', async () => {
    const files = await createOwnFiles(home, 'snake', 'python')
    // The settings of the guide, with the program that comes with them.
    const settings = examples('yaml').find((text) => text.startsWith('command')) ?? ''
    await writeFile(files[0] ?? '', settings)
    const closes = [...Array.from({ length: 50 }, () => 1), 2]
    expect(await sidesOf('snake', closes)).toEqual(['long'])
  })
})
