import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LocalRuns } from '../../backtest/runs/local-runs.ts'
import { runsInMemory } from '../../compose/run-files.ts'
import { testClock } from '../../../test/signer.fixture.ts'
import { startTestServer, TOKEN, type Called, type TestServer } from './test-server.fixture.ts'

let server: TestServer
let runs: LocalRuns
beforeAll(async () => {
  runs = await LocalRuns.open({
    store: runsInMemory(),
    clock: testClock(),
    settings: () => ({ max_queued: 8, keep: 10 }),
    check: () => Promise.resolve(),
    // Each runs until it is cancelled.
    work: (_run, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
    onError: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })
  server = await startTestServer({
    asOperator: true,
    settings: { stream: { max_clients: 4 } },
    dependencies: { backtests: runs },
  })
  for (const node_id of ['ann', 'bob'])
    await server.call('POST', '/contributors/register', { json: { node_id, name: node_id, role: 'agent' } })
})
afterAll(async () => {
  await runs.close()
  await server.close()
})

let count = 0
const keyOf = async (contributor: string): Promise<string> => {
  const json = { name: `k${(count += 1)}`, scopes: ['read', 'submit', 'emit'], contributor }
  return String((await server.call('POST', '/access-keys', { json })).body['secret'])
}

const codeOf = ({ status, body }: Called) => [status, body['code']]

const start = (token: string, path = '/backtests') =>
  server.call('POST', path, { token, json: path === '/sweeps' ? { set: ['fast=5,10'] } : {} })

const cancelAll = async (): Promise<void> => {
  for (const kind of ['backtests', 'sweeps']) {
    const { items } = (await server.call('GET', `/${kind}`)).body as { items: { id: string }[] }
    for (const { id } of items)
      expect((await server.call('DELETE', `/${kind}/${id}`)).body).toMatchObject({ id })
  }
}

describe('a run', () => {
  it.each(['/backtests', '/sweeps'])(
    'of %s is cancelled by its caller or an operator alone',
    async (path) => {
      const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
      for (const owner of [TOKEN, ann]) {
        const { id } = (await start(owner, path)).body
        const cancel = async (token: string) => server.call('DELETE', `${path}/${String(id)}`, { token })
        expect(codeOf(await cancel(bob))).toEqual([403, 'auth.not_owner'])
        expect(codeOf(await cancel(owner === TOKEN ? ann : TOKEN))).toEqual([403, 'auth.not_owner'])
        expect((await cancel(owner)).body).toEqual({ id, status: 'cancelled' })
        // Nor is its report forgotten for others.
        expect(codeOf(await cancel(bob))).toEqual([403, 'auth.not_owner'])
      }
      const { id } = (await start(ann, path)).body
      expect((await server.call('DELETE', `${path}/${String(id)}`)).body).toEqual({ id, status: 'cancelled' })
      await cancelAll()
    },
  )

  it('does not take the place of an operator: each key has a quarter of the queue, all keys half', async () => {
    const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
    const third = await keyOf('bob')
    const statuses = async (token: string, times: number) => {
      const answers: unknown[] = []
      for (let index = 0; index < times; index += 1) answers.push((await start(token)).status)
      return answers
    }
    expect(await statuses(ann, 3)).toEqual([202, 202, 429])
    expect(await statuses(bob, 3)).toEqual([202, 202, 429])
    expect((await start(third)).body).toMatchObject({ code: 'backtest.queue_full', max: 4 })
    expect(await statuses(TOKEN, 5)).toEqual([202, 202, 202, 202, 429])
    await cancelAll()
  })
})

describe('a trace session', () => {
  it('is extended and closed by its caller or an operator alone', async () => {
    const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
    for (const owner of [TOKEN, ann]) {
      const opened = await server.call('POST', '/trace/sessions', { token: owner })
      const path = `/trace/sessions/${String(opened.body['id'])}`
      const append = (token: string) =>
        server.call('PUT', `${path}/append`, { token, json: { trace_id: 'run-7' } })
      expect(codeOf(await append(bob))).toEqual([403, 'auth.not_owner'])
      expect((await append(owner)).status).toBe(200)
      expect(codeOf(await server.call('DELETE', path, { token: bob }))).toEqual([403, 'auth.not_owner'])
      expect((await server.call('DELETE', path, { token: owner })).body).toMatchObject({ status: 'closed' })
    }
    const opened = await server.call('POST', '/trace/sessions', { token: ann })
    expect(opened.body['owner']).toMatch(/^key:k\d+:[0-9a-f]{16}$/)
    const path = `/trace/sessions/${String(opened.body['id'])}`
    expect((await server.call('DELETE', path)).body).toMatchObject({ status: 'closed' })
  })
})

describe('the source of a signal', () => {
  it('is the contributor of a bound key, and nobody else', async () => {
    const ann = await keyOf('ann')
    const submit = (token: string, source: string | null) =>
      server.call('POST', '/signals/submit', {
        token,
        json: { event_type: 'signal.curator.v1', node_id: 'ann', source },
      })
    for (const source of ['bob', 'desk', 'ANN', 'system'])
      expect(codeOf(await submit(ann, source)), source).toEqual([403, 'auth.author_mismatch'])
    for (const source of ['ann', ' ann ', '', ' ', null])
      expect((await submit(ann, source)).status, String(source)).toBe(200)
    expect((await submit(TOKEN, 'desk')).status).toBe(200)
  })
})

describe('streams', () => {
  it('are not all taken by one key', async () => {
    const [ann, bob, third] = [await keyOf('ann'), await keyOf('bob'), await keyOf('bob')]
    const stop = new AbortController()
    const open = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${server.baseUrl}/events/stream`, { headers, signal: stop.signal })).status
    }
    expect([await open(ann), await open(ann)]).toEqual([200, 503])
    expect([await open(bob), await open(third)]).toEqual([200, 503])
    expect([await open(TOKEN), await open(TOKEN), await open(TOKEN)]).toEqual([200, 200, 503])
    stop.abort()
  })
})
