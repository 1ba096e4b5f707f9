import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { moduleOf } from '../../../../test/program.fixture.ts'
import { REDACTED } from '../../../core/operations/redaction.ts'
import { createLogger, type AdjustableLogger, type LoggerOptions } from './logger.ts'

const TOKEN = 'a-configured-token-of-some-length'
const NOW = '2026-02-20T00:29:58.000Z'

const started = (options: Partial<LoggerOptions> = {}): { logger: AdjustableLogger; lines: string[] } => {
  const lines: string[] = []
  const logger = createLogger({
    level: 'DEBUG',
    jsonOutput: true,
    secrets: [TOKEN],
    clock: { now: () => Date.parse(NOW) },
    write: (line) => lines.push(line),
    terminal: false,
    ...options,
  })
  return { logger, lines }
}

describe('JSON lines', () => {
  it('hold time, level, message and fields', () => {
    const { logger, lines } = started()
    logger.info('listening on 100%% of %s', { port: 5050, nested: { a: [1] } })
    expect(lines).toEqual([
      `{"level":"INFO","ts":"${NOW}","port":5050,"nested":{"a":[1]},"message":"listening on 100%% of %s"}\n`,
    ])
  })

  it('name the levels as the configuration does', () => {
    const { logger, lines } = started()
    logger.debug('a')
    logger.info('b')
    logger.warn('c')
    logger.error('d')
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual([
      'DEBUG',
      'INFO',
      'WARNING',
      'ERROR',
    ])
  })

  it('keep fields that are named like parts of the line', () => {
    const { logger, lines } = started()
    logger.info('a', { level: 3, ts: 'x', message: 'b' })
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'INFO',
      ts: NOW,
      message: 'a',
      level_: 3,
      ts_: 'x',
      message_: 'b',
    })
  })
})

describe('readable lines', () => {
  it('are one line each, whatever the text holds', () => {
    const { logger, lines } = started({ jsonOutput: false })
    logger.warn('forged\n2026 INFO all is well \u001b[2J', {
      name: 'p1',
      note: 'two words',
      list: [1],
      'a\nb': 1,
    })
    expect(lines).toEqual([
      `${NOW} WARNING forged\\n2026 INFO all is well \\u001b[2J name=p1 note="two words" list=[1] a\\nb=1\n`,
    ])
  })

  it('hold errors with their stack in that one line', () => {
    const { logger, lines } = started({ jsonOutput: false })
    logger.error('failed', { error: new Error('no luck') })
    expect(lines[0]).toMatch(
      /^\S+ ERROR {3}failed error=\{"name":"Error","message":"no luck","stack":".*\\n.*"\}\n$/,
    )
  })
})

describe('lines on a terminal', () => {
  it('begin with the local time, and name a level only where it is not INFO', () => {
    const { logger, lines } = started({ jsonOutput: false, terminal: true })
    const time = new Date(NOW).toTimeString().slice(0, 8)
    logger.info('entry BTC long')
    logger.warn('alert\nforged', { symbol: 'BTC' })
    expect(lines).toEqual([`${time} entry BTC long\n`, `${time} WARNING alert\\nforged symbol=BTC\n`])
  })
})

describe('levels', () => {
  it.each([
    ['DEBUG', 4],
    ['INFO', 3],
    ['WARNING', 2],
    ['ERROR', 1],
  ] as const)('%s shows %i of the four', (level, count) => {
    const { logger, lines } = started({ level: level === 'DEBUG' ? 'ERROR' : 'DEBUG' })
    logger.setLevel(level)
    logger.debug('a')
    logger.info('b')
    logger.warn('c')
    logger.error('d')
    expect(lines).toHaveLength(count)
  })
})

describe('secrets', () => {
  it.each([true, false])(
    'appear nowhere, in whatever part of a record they stand (JSON: %s)',
    (jsonOutput) => {
      const { logger, lines } = started({ jsonOutput })
      const error = new Error(`refused ${TOKEN}`, {
        cause: { headers: { authorization: `Bearer ${TOKEN}` } },
      })
      logger.debug(`got ${TOKEN}`, { error, [TOKEN]: [TOKEN], deep: { a: [{ b: new Map([['c', TOKEN]]) }] } })
      logger.info('config', { api: { auth_token: 'another', port: 1 }, url: 'postgres://u:pw@h/db' })
      const output = lines.join('')
      expect(lines).toHaveLength(2)
      expect(output).not.toContain(TOKEN)
      expect(output).not.toMatch(/another|:pw@/)
      expect(output).toContain(`got ${REDACTED}`)
    },
  )

  it('may change while it runs', () => {
    const { logger, lines } = started()
    logger.info('new-secret')
    logger.setSecrets(['new-secret'])
    logger.info('new-secret')
    expect(lines[0]).toContain('new-secret')
    expect(lines[1]).toContain(REDACTED)
    expect(lines[1]).not.toContain('new-secret')
  })
})

it('changes its form while it runs', () => {
  const { logger, lines } = started()
  logger.setJsonOutput(false)
  logger.info('a')
  expect(lines).toEqual([`${NOW} INFO    a\n`])
})

it('writes the message when a field cannot be read', () => {
  const { logger, lines } = started()
  const hostile = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw new Error(`no ${TOKEN}`)
    },
  })
  const ring: Record<string, unknown> = {}
  ring['ring'] = ring
  logger.info('a', { hostile })
  logger.info('b', { ring, big: 1n, none: undefined })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'a', fields: '[unreadable]' })
  expect(lines[0]).not.toContain(TOKEN)
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ message: 'b', ring: { ring: '[circular]' }, big: '1' })
})

it('writes to standard error, also the last line before an exit', () => {
  const code = `
    import { createLogger } from ${JSON.stringify(moduleOf('src/adapters/platform/logger/logger'))}
    createLogger({ level: 'INFO', jsonOutput: false, secrets: [], clock: Date }).error('the end')
    process.exit(0)`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  })
  expect(child.stdout).toBe('')
  expect(child.stderr).toMatch(/^\S+ ERROR {3}the end\n$/)
})
