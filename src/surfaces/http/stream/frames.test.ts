import { describe, expect, it } from 'vitest'
import { appendTo, recordsAfter } from '../../../../test/records.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { EMPTY_HEAD, type LogRecord } from '../../../core/log/event.ts'
import { filterOf, frameOf, readPage } from './frames.ts'
import { eventsIn } from './stream.fixture.ts'

const record = (changes: Partial<LogRecord> = {}): LogRecord => {
  const [made] = recordsAfter(EMPTY_HEAD, 1, () => ({ id: 'id-1', ts: '2026-02-20T00:29:58.000Z' }))
  if (made === undefined) throw new Error('no record')
  return { ...made, ...changes }
}

const textOf = (changes: Partial<LogRecord>): string => frameOf(record(changes)).bytes.toString()

describe('a frame', () => {
  it('is the id and one line of JSON with the payload as it was stored', () => {
    const payload = '{"conviction":1e-7,"symbol":"BTC"}'
    expect(textOf({ type: 'signal.curator.v1', source: 'n"1', payload })).toBe(
      'id: id-1\n' +
        'data: {"id":"id-1","type":"signal.curator.v1","ts":"2026-02-20T00:29:58.000Z","source":"n\\"1",' +
        `"payload":${payload}}\n\n`,
    )
    expect(textOf({ source: null })).toContain('"source":null')
    expect(frameOf(record({ type: 'alert.kill_switch' })).category).toBe('alert')
  })

  it('stays one line of JSON however the stored payload was tampered with', () => {
    for (const payload of [
      'not json',
      '{"a":',
      '',
      '1',
      'null',
      '[1]',
      '{"a":\n1}',
      '{"a":1}\r\n\r\ndata: x',
    ]) {
      const lines = textOf({ payload }).split('\n')
      expect(lines, payload).toHaveLength(4)
      const [, data = ''] = lines
      expect(data).not.toContain('\r')
      const parsed = JSON.parse(data.slice('data: '.length)) as { payload: unknown }
      const isObject = payload === '{"a":\n1}'
      expect(parsed.payload, payload).toEqual(isObject ? { a: 1 } : payload)
    }
  })
})

const logOf = async (count: number): Promise<MemoryLog> => {
  const log = new MemoryLog()
  await appendTo(log, count, (seq) => ({ type: seq % 2 === 0 ? 'alert.test' : 'signal.test.v1' }))
  return log
}

describe('a page of the log', () => {
  it('reaches up to its last event if it is full, else up to `before`', async () => {
    const log = await logOf(10)
    const page = async (names: string, after: number, before: number, limit: number) => {
      const read = await readPage(log, filterOf(names), { after, before, limit })
      const { bytes, upTo } = read.chunkAfter(after)
      return { events: eventsIn(bytes), upTo }
    }
    expect(await page('', 0, 11, 4)).toEqual({ events: 4, upTo: 4 })
    expect(await page('', 4, 11, 100)).toEqual({ events: 6, upTo: 10 })
    expect(await page('alert', 0, 10, 3)).toEqual({ events: 3, upTo: 6 })
    expect(await page('alert', 6, 10, 3)).toEqual({ events: 1, upTo: 9 })
    expect(await page('alert', 8, 10, 3)).toEqual({ events: 0, upTo: 9 })
    expect(await page('learning', 0, 6, 3)).toEqual({ events: 0, upTo: 5 })
    // No first segment at all: the log need not even be asked.
    expect(await page('signal.test', 0, 6, 3)).toEqual({ events: 0, upTo: 5 })
  })
})
