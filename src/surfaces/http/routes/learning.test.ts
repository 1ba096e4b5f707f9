import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { OPERATOR_TOKEN, startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
})
afterAll(() => server.close())

const weights = (query = '') => server.call('GET', `/learning/weights${query}`)
const learn = (token?: string) => server.call('POST', '/learning/run', token === undefined ? {} : { token })

it('shows the configured weights while nothing was learned', async () => {
  const { body } = await weights()
  expect(body).toMatchObject({
    origin: 'configured',
    version: 0,
    learned_at: null,
    first_close_at: null,
    last_run_at: null,
    next_run_at: '2026-02-26T00:00:00.000Z',
    history: [],
  })
  expect(body['weights']).toEqual(server.configuration.current().weights)
})

it('is run by operators alone', async () => {
  expectProblem(await learn(), 'auth.forbidden', 403)
  expect((await weights()).body['history']).toEqual([])
})

it('records every run, also one that changes nothing', async () => {
  const { status, body } = await learn(OPERATOR_TOKEN)
  expect([status, body]).toMatchObject([
    200,
    { trigger: 'api', reason: 'cold_start_no_history', applied: false, observations: 0, weights_version: 0 },
  ])
  expect((await server.auditEntries()).at(-1)).toMatchObject({
    resource: '/learning/run',
    action: 'write',
    outcome: 'allowed',
  })
  await learn(OPERATOR_TOKEN)
  const shown = (await weights()).body
  expect(shown['history']).toMatchObject([{ trigger: 'api' }, body])
  expect(shown['last_run_at']).toBe(body['at'])
  expect((await weights('?limit=1')).body['history']).toHaveLength(1)
})

it('shows a page of runs, not more', async () => {
  for (const [query, type] of [
    ['limit=0', 'greater_than_equal'],
    ['limit=501', 'less_than_equal'],
    ['limit=x', 'int_type'],
  ] as const) {
    expectFault(await weights(`?${query}`), ['query', 'limit'], type)
  }
})
