import { timestampOf } from '../../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import type { LogRecord } from '../../../core/log/event.ts'
import { RECENT_CHECK_MS } from '../../../engine/integrity/recent-check.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

const NOW = timestampOf('2026-02-20T00:30:00.000Z')
const DAY_MS = 86_400_000

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
  await register('n1')
})
afterEach(() => server.close())

const register = async (nodeId: string): Promise<string> => {
  const json = { node_id: nodeId, name: 'Ann', role: 'curator' }
  return String((await server.call('POST', '/contributors/register', { json })).body['id'])
}
const submit = (nodeId: string, source?: string) =>
  server.call('POST', '/signals/submit', {
    json: { event_type: 'signal.curator.v1', node_id: nodeId, source },
  })
const provenance = (id: string, query = '') =>
  server.call('GET', `/oracle/producers/${id}/provenance${query}`, { token: null })

const unknown = (id: string) => ({
  producer_id: id,
  has_provenance: false,
  note: 'No provenance data available. Proceeding without attribution context.',
})

describe('the provenance of a producer', () => {
  it('is none for one that never spoke', async () => {
    for (const id of ['x', 'n1', '%00', '%7C', '__proto__', 'x'.repeat(500), '%3Cscript%3E', "';--"]) {
      const { status, body, headers } = await provenance(id)
      expect([status, body]).toEqual([200, unknown(decodeURIComponent(id))])
      expect(headers.get('x-attribution-notice')).toBe('Informational only; fields may change.')
    }
  })

  it('counts the signals of a contributor', async () => {
    await submit('n1')
    const { status, body, headers } = await provenance('n1')
    const window = { signals: 1, hit_rate: 0, max_drawdown_pct: 0 }
    expect([status, body]).toEqual([
      200,
      {
        producer_id: 'n1',
        has_provenance: true,
        chain_verified: true,
        chain_integrity_spot_checked: true,
        total_signals: 1,
        p_and_l_attributed: false,
        operator_coverage: 1,
        first_seen: NOW,
        last_seen: NOW,
        attribution_windows: { '7d': window, '30d': window, '90d': window },
        note: expect.any(String),
      },
    ])
    expect(headers.get('x-attribution-notice')).toBe('Informational only; fields may change.')
  })

  it('is not changed by those who only name somebody as their source', async () => {
    await register('n2')
    await submit('n2')
    const before = (await provenance('n2')).body
    await submit('n1', 'n2')
    await submit('n1', 'nobody')
    expect((await provenance('n2')).body).toEqual(before)
    expect((await provenance('nobody')).body).toEqual(unknown('nobody'))
    expect((await provenance('n1')).body).toMatchObject({ total_signals: 2 })
  })

  it('stays after the contributor was removed, and counts who stood behind the name', async () => {
    const { body } = await submit('n1')
    await server.call('DELETE', `/contributors/${String(body['contributor_id'])}`)
    expect((await provenance('n1')).body).toMatchObject({ total_signals: 1, operator_coverage: 1 })
    await register('n1')
    await submit('n1')
    expect((await provenance('n1')).body).toMatchObject({ total_signals: 2, operator_coverage: 2 })
  })

  it('counts the signals of a source without a contributor', async () => {
    await appendTo(server.log, 3, () => ({ type: 'signal.ta.v1', source: 'p1', ts: NOW, recordedAt: NOW }))
    expect((await provenance('p1')).body).toMatchObject({ total_signals: 3, operator_coverage: 0 })
  })

  it('has windows only where there are signals', async () => {
    await submit('n1')
    const windows = async () => Object.keys((await provenance('n1')).body['attribution_windows'] as object)
    server.testClock.advance(8 * DAY_MS)
    expect(await windows()).toEqual(['30d', '90d'])
    server.testClock.advance(31 * DAY_MS)
    expect(await windows()).toEqual(['90d'])
    server.testClock.advance(91 * DAY_MS)
    expect(await windows()).toEqual([])
    await submit('n1')
    expect((await provenance('n1')).body).toMatchObject({
      total_signals: 2,
      first_seen: NOW,
      attribution_windows: { '7d': { signals: 1 }, '30d': { signals: 1 }, '90d': { signals: 1 } },
    })
  })

  it('ignores a query, and changes nothing', async () => {
    await submit('n1')
    const { seq } = await server.log.head()
    for (const query of ['?signal_type=x', '?signal_type=a&signal_type=b', '?signal_type=', '?limit=x']) {
      expect((await provenance('n1', query)).body).toMatchObject({ has_provenance: true })
    }
    expect((await server.log.head()).seq).toBe(seq)
  })

  it('needs no token, and minds none', async () => {
    await submit('n1')
    const path = '/oracle/producers/n1/provenance'
    const expected = (await provenance('n1')).body
    expect((await server.call('GET', path, { token: 'wrong' })).body).toEqual(expected)
    expect((await server.call('GET', path)).body).toEqual(expected)
  })
})

describe('the chain behind it', () => {
  /** Counts the scans of the log, and can damage its payloads. */
  class WatchedLog extends MemoryLog {
    looks = 0
    broken = false
    override async *scan(...args: Parameters<MemoryLog['scan']>): AsyncIterable<readonly LogRecord[]> {
      this.looks += 1
      const damage = (record: LogRecord) => ({ ...record, payload: '{}' })
      for await (const page of super.scan(...args)) yield this.broken ? page.map(damage) : page
    }
  }

  it('is looked at once a second, however many ask, and a broken one is told', async () => {
    await server.close()
    const log = new WatchedLog()
    server = await startTestServer({ log })
    await register('n1')
    await submit('n1')
    const chain = async () => {
      const { body } = await provenance('n1')
      return [body['chain_verified'], body['chain_integrity_spot_checked']]
    }
    await Promise.all(Array.from({ length: 20 }, chain))
    const { looks } = log
    expect(looks).toBeGreaterThan(0)
    await Promise.all(Array.from({ length: 20 }, () => provenance('nobody')))
    expect([await chain(), log.looks]).toEqual([[true, true], looks])
    log.broken = true
    server.testClock.advance(RECENT_CHECK_MS)
    expect(await chain()).toEqual([false, false])
    expect(log.looks).toBeGreaterThan(looks)
  })
})
