import { afterEach, describe, expect, it } from 'vitest'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
afterEach(() => server.close())

describe('GET /metrics', () => {
  it('counts events and requests, and shows the kill switch', async () => {
    server = await startTestServer()
    await server.call('POST', '/kill-switch', { json: { level: 2, reason: 'x' } })
    await server.call('GET', '/events/none')
    await server.call('GET', '/no-such-path')
    const { status, headers, text } = await server.callRoot('GET', '/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain/)
    const lines = text.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'svc_kill_switch_level 2',
        'svc_chain_ok 1',
        'svc_events_total{category="system"} 3',
        'svc_events_total{category="alert"} 1',
        'svc_http_requests_total{method="POST",route="/api/v1/kill-switch",status="200"} 1',
        'svc_http_requests_total{method="GET",route="/api/v1/events/:id",status="404"} 1',
        'svc_http_requests_total{method="GET",route="unmatched",status="404"} 1',
        'svc_http_request_duration_seconds_count{method="POST",route="/api/v1/kill-switch"} 1',
      ]),
    )
    expect(text).toMatch(/^process_resident_memory_bytes \d/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m)
    const again = await server.callRoot('GET', '/metrics')
    expect(again.text).toContain('svc_events_total{category="system"} 3')
  })

  it('shows the brain, positions and producers', async () => {
    server = await startTestServer()
    await server.call('POST', '/brain/run')
    const json = { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' }
    await server.call('POST', '/producers/register', { json })
    const before = await server.callRoot('GET', '/metrics')
    expect(before.text.split('\n')).toEqual(
      expect.arrayContaining([
        'svc_brain_cycles_total 1',
        'svc_open_positions 0',
        'svc_stream_clients 0',
        'svc_producer_health{producer="p1",health="unknown"} 1',
        'svc_producer_health{producer="technical-analysis",health="unknown"} 1',
      ]),
    )
    await server.call('DELETE', '/producers/p1')
    await server.call('POST', '/brain/run')
    const { text } = await server.callRoot('GET', '/metrics')
    expect(text).toContain('svc_brain_cycles_total 2')
    expect(text).not.toContain('producer="p1"')
  })

  it('is public only while that is configured', async () => {
    server = await startTestServer()
    expect((await server.callRoot('GET', '/metrics', { token: null })).status).toBe(401)
    await server.call('POST', '/config', { json: { metrics: { public: true } } })
    expect((await server.callRoot('GET', '/metrics', { token: null })).status).toBe(200)
    await server.call('POST', '/config', { json: { metrics: { public: false } } })
    expect((await server.callRoot('GET', '/metrics', { token: null })).status).toBe(401)
  })

  it('goes on without the store', async () => {
    server = await startTestServer({ log: new UncountedLog() })
    const { status, text } = await server.callRoot('GET', '/metrics')
    expect(status).toBe(200)
    expect(text).toContain('svc_kill_switch_level 0')
  })
})

class UncountedLog extends MemoryLog {
  override countByDomain(): Promise<ReadonlyMap<string, number>> {
    return Promise.reject(new StoreUnavailableError('the disk is gone'))
  }
}
