import { beforeAll, expect, it } from 'vitest'
import { register } from './acts.ts'
import { newHome, startService, type Answer, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

const NOTICE = 'Informational only; fields may change.'

onDefaultStore('the oracle', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
  })
  const provenanceOf = async (id: string): Promise<Answer> => {
    const path = `/oracle/producers/${id}/provenance?signal_type=anything`
    const answer = await service.call('GET', path, { headers: { authorization: '' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-attribution-notice')).toBe(NOTICE)
    return answer
  }

  it('says of a stranger only that it knows nothing', async () => {
    expect((await provenanceOf('somebody')).body).toEqual({
      producer_id: 'somebody',
      has_provenance: false,
      note: 'No provenance data available. Proceeding without attribution context.',
    })
  })

  it('knows whose a signal is, whatever it says of its source', async () => {
    for (const nodeId of ['n1', 'n2']) await register(service, nodeId)
    const before = (await provenanceOf('n2')).body
    const body = { event_type: 'signal.curator.v1', node_id: 'n1', source: 'n2', payload: { symbol: 'BTC' } }
    expect((await service.call('POST', '/signals/submit', { body })).status).toBe(200)
    expect((await provenanceOf('n1')).body).toEqual({
      producer_id: 'n1',
      has_provenance: true,
      chain_verified: true,
      chain_integrity_spot_checked: true,
      total_signals: 1,
      p_and_l_attributed: false,
      operator_coverage: 1,
      first_seen: expect.any(String),
      last_seen: expect.any(String),
      attribution_windows: {
        '7d': { signals: 1, hit_rate: 0, max_drawdown_pct: 0 },
        '30d': { signals: 1, hit_rate: 0, max_drawdown_pct: 0 },
        '90d': { signals: 1, hit_rate: 0, max_drawdown_pct: 0 },
      },
      note: expect.any(String),
    })
    expect((await provenanceOf('n2')).body).toEqual(before)
  })

  it('gives agents the same answer', async () => {
    for (const id of ['n1', 'somebody']) {
      const params = { name: 'svc_provenance_check', arguments: { producer_id: id } }
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const { result } = (await service.call('POST', '/mcp', { body: call })).body as {
        result: { structuredContent: object; isError: boolean }
      }
      expect(result.structuredContent).toEqual((await provenanceOf(id)).body)
      expect(result.isError).toBe(false)
    }
  })
})
