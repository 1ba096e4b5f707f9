import { describe, expect, it } from 'vitest'
import { recordsAfter } from '../../../../test/records.ts'
import { EMPTY_HEAD, type LogRecord } from '../../../core/log/event.ts'
import { frameOf } from './frames.ts'

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

  it('stays one line of JSON whatever somebody did to the stored payload', () => {
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
