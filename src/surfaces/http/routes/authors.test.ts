import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { playAuthorCalls } from '../../../../test/author-calls.fixture.ts'
import { nodeId } from '../../../core/shared/brand.ts'
import type { AuthorsView } from '../../../core/views/authors.ts'
import type { ContributionView } from '../../../core/views/contribution.ts'
import { callersOf, resultOf } from '../../mcp/caller.fixture.ts'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

const DAYS = 24

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await playAuthorCalls(
    {
      execute: async (command) => {
        const outcome = await server.engine.execute(command)
        if (outcome.status === 'refused') throw new Error(outcome.refusal.code)
      },
      now: () => server.testClock.now(),
      wait: (ms) => server.testClock.advance(ms),
    },
    DAYS,
  )
})
afterAll(() => server.close())

const idOf = (node: string): string =>
  server.engine.state.signals.contributors.idOfNode.get(nodeId(node)) ?? ''
const get = async (path: string) => (await server.call('GET', path)).body
const contribution = async (path: string) =>
  (await get(`${path}/contribution`)) as unknown as ContributionView

describe('what an author adds', () => {
  it('is read from the fold and from the log', async () => {
    const ann = await contribution(`/contributors/${idOf('ann')}`)
    expect(ann).toMatchObject({ author: `contributor:${idOf('ann')}`, name: 'ann', outcomes: DAYS })
    expect(ann.newest_calls).toHaveLength(20)
    expect(ann.newest_calls.every(({ symbol }) => symbol === 'BTC')).toBe(true)
    expect(ann.moves_with).toMatchObject([{ name: 'bob', speaks: 'after' }])
    expect(ann.calibration.reduce((sum, { calls }) => sum + calls, 0)).toBe(DAYS)
    expect(ann.as_of).toBe(new Date(server.testClock.now()).toISOString())
  })

  it('has the same shape for a producer, with its own calls only', async () => {
    const producer = await contribution('/producers/technical-analysis')
    expect(producer).toMatchObject({ author: 'producer:technical-analysis', score: null, outcomes: DAYS })
    expect(producer.newest_calls).toHaveLength(20)
    expect(producer.newest_calls.every(({ horizon }) => horizon === '4h')).toBe(true)
    expect(producer.edge).toBeLessThan(0)
  })

  it('is empty for a contributor without calls', async () => {
    const json = { node_id: 'dora', name: 'Dora', role: 'curator' }
    const { body } = await server.call('POST', '/contributors/register', { json })
    expect(await contribution(`/contributors/${String(body['id'])}`)).toMatchObject({
      name: 'Dora',
      calls: 0,
      newcomer: 1,
      newest_calls: [],
    })
  })

  it('refuses whom it does not know', async () => {
    const missing = await server.call('GET', '/contributors/nobody/contribution')
    expectProblem(missing, 'contributor.not_found', 404)
    expect(missing.body['id']).toBe('nobody')
    expectProblem(
      await server.call('GET', `/contributors/${encodeURIComponent('ann')}/contribution`),
      'contributor.not_found',
      404,
    )
    expectProblem(await server.call('GET', '/producers/nobody/contribution'), 'producer.not_found', 404)
    expectProblem(
      await server.call('GET', `/contributors/${idOf('ann')}/contribution`, { token: null }),
      'auth.missing_token',
      401,
    )
  })
})

describe('all authors', () => {
  it('are listed best first with their groups', async () => {
    const view = (await get('/authors')) as unknown as AuthorsView
    expect(view.total).toBe(4)
    expect(view.authors.map(({ name }) => name)).toContain('technical-analysis')
    expect(view.groups).toMatchObject([{ leader: { name: 'ann' }, members: [{ name: 'bob' }] }])
    expect(((await get('/authors?limit=1')) as unknown as AuthorsView).authors).toHaveLength(1)
  })

  it('refuses a limit that is none', async () => {
    expectFault(await server.call('GET', '/authors?limit=0'), ['query', 'limit'], 'greater_than_equal')
    expectFault(await server.call('GET', '/authors?limit=201'), ['query', 'limit'], 'less_than_equal')
  })
})

describe('explain_author', () => {
  const explain = async (author: string) =>
    resultOf(await callersOf(server).tool('explain_author', { author }))

  it('says of a node_id, an id or a producer what the API says', async () => {
    const expected = await contribution(`/contributors/${idOf('ann')}`)
    expect((await explain('ann')).value).toEqual(expected)
    expect((await explain(idOf('ann'))).value).toEqual(expected)
    expect((await explain('technical-analysis')).value).toMatchObject({ kind: 'producer', outcomes: DAYS })
  })

  it('names an author that it does not know', async () => {
    expect(await explain('nobody')).toMatchObject({
      isError: true,
      value: { error: 'author_not_found', author: 'nobody' },
    })
  })
})
