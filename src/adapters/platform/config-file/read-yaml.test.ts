import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readYamlFile, YAML_BYTES_MAX } from './read-yaml.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-yaml-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const read = async (text: string | Uint8Array) => {
  await writeFile(join(folder, 'f.yaml'), text)
  return readYamlFile(join(folder, 'f.yaml'), 'f.yaml')
}

const problemsOf = async (text: string | Uint8Array) => {
  const file = await read(text)
  return file.status === 'broken' ? file.problems : []
}

describe('readYamlFile', () => {
  it('reads keys and values and knows where they stand', async () => {
    const file = await read('# hello\napi:\n  port: 5\n  list: [a, b]\nempty:\n')
    if (file.status !== 'read') throw new Error(file.status)
    expect(file.layer.values).toStrictEqual({ api: { port: 5, list: ['a', 'b'] }, empty: null })
    expect(file.layer.whereIs(['api', 'port'])).toBe('f.yaml:3:9')
    expect(file.layer.whereIs(['api', 'list', '1'])).toBe('f.yaml:4:13')
    expect(file.layer.whereIs(['nowhere'])).toBe('f.yaml')
  })

  it.each(['', '# only a comment\n', '---\n', '\ufeffapi: {}\n'])('reads %j', async (text) => {
    expect((await read(text)).status).toBe('read')
  })

  it('may be absent', async () => {
    expect(await readYamlFile(join(folder, 'no', 'f.yaml'), 'f.yaml')).toStrictEqual({ status: 'absent' })
    await writeFile(join(folder, 'file'), '')
    expect(await readYamlFile(join(folder, 'file', 'f.yaml'), 'f.yaml')).toStrictEqual({ status: 'absent' })
  })

  it.each([
    ['duplicate keys', 'a: 1\nb: 2\na: 3\n', 'f.yaml:3:1: Map keys must be unique'],
    ['bad indentation', 'a:\n  b: 1\n c: 2\n', 'f.yaml:3:1: All mapping items must start at the same column'],
    ['an open list', 'a: [1, 2\n', 'f.yaml:2:1: Flow sequence in block collection must be sufficiently'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'f.yaml:2:1: Source contains multiple documents'],
    ['an unknown tag', 'a: !secret x\n', 'f.yaml:1:4: Unresolved tag: !secret'],
    ['an unknown alias', 'a: *nobody\n', 'f.yaml'],
    ['a list', '- 1\n', 'f.yaml: must hold keys and values, not a single value or a list'],
    ['a single value', 'hello\n', 'f.yaml: must hold keys and values, not a single value or a list'],
  ])('refuses %s', async (_, text, problem) => {
    const problems = await problemsOf(text)
    expect(problems[0]?.slice(0, problem.length)).toBe(problem)
  })

  it('refuses aliases that multiply', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]`,
    )
    const problems = await problemsOf(`l0: &l0 [x, x]\n${levels.join('\n')}\n`)
    expect(problems).toStrictEqual(['f.yaml: Excessive alias count indicates a resource exhaustion attack'])
  })

  it('refuses what is too large, not UTF-8, or not a file', async () => {
    expect(await problemsOf(`a: ${'x'.repeat(YAML_BYTES_MAX)}`)).toStrictEqual([
      `f.yaml: is larger than ${YAML_BYTES_MAX} bytes`,
    ])
    expect(await problemsOf(Uint8Array.from([0x61, 0x3a, 0x20, 0xff]))).toStrictEqual([
      'f.yaml: is not UTF-8',
    ])
    await mkdir(join(folder, 'd.yaml'))
    expect(await readYamlFile(join(folder, 'd.yaml'), 'd.yaml')).toStrictEqual({
      status: 'broken',
      problems: ['d.yaml: cannot be read (EISDIR)'],
    })
  })

  it.skipIf(process.getuid?.() === 0)('says when it may not read', async () => {
    await read('a: 1')
    await chmod(join(folder, 'f.yaml'), 0)
    expect(await readYamlFile(join(folder, 'f.yaml'), 'f.yaml')).toStrictEqual({
      status: 'broken',
      problems: ['f.yaml: cannot be read (EACCES)'],
    })
  })

  it('touches no prototype', async () => {
    const file = await read('__proto__:\n  polluted: true\n')
    if (file.status !== 'read') throw new Error(file.status)
    expect(Object.keys(file.layer.values)).toStrictEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
