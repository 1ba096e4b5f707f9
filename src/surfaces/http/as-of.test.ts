import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultOf } from '../mcp/caller.fixture.ts'
import { startWithAuthors } from '../mcp/tools/authors.fixture.ts'

type Furnished = Awaited<ReturnType<typeof startWithAuthors>>

const PATHS = [
  '/brain/status',
  '/regime',
  '/kill-switch',
  '/portfolio',
  '/portfolio/history',
  '/positions?status=all',
  '/orders',
  '/intents',
  '/learning/weights',
  '/treasury',
  '/contributors/leaderboard',
]

let server: Furnished['server']
let tool: Furnished['tool']
const then: { readonly seq: number; readonly time: string; readonly bodies: Map<string, unknown> }[] = []

const withAsOf = (path: string, point: string | number) =>
  `${path}${path.includes('?') ? '&' : '?'}as_of=${encodeURIComponent(point)}`

beforeAll(async () => {
  ;({ server, tool } = await startWithAuthors())
  for (const level of [1, 2, 0, 3]) {
    server.testClock.advance(60_000)
    await server.call('POST', '/kill-switch', { json: { level, reason: `level ${level}` } })
    if (level === 0) await server.call('POST', '/brain/run')
    await server.call('POST', '/learning/run')
    const { seq, recordedAt } = await server.log.head()
    const bodies = new Map<string, unknown>()
    for (const path of PATHS) bodies.set(path, (await server.call('GET', path)).body)
    then.push({ seq, time: recordedAt, bodies })
  }
  server.testClock.advance(3_600_000)
})
afterAll(() => server.close())

describe('?as_of=', () => {
  it.each(PATHS)('answers %s as it was, by event and by time', async (path) => {
    for (const { seq, time, bodies } of then) {
      for (const point of [seq, time]) {
        const { status, body, headers } = await server.call('GET', withAsOf(path, point))
        expect(status).toBe(200)
        expect([headers.get('x-as-of-seq'), headers.get('x-as-of-time')]).toEqual([String(seq), time])
        if (Array.isArray(body)) {
          expect(body).toEqual(bodies.get(path))
          continue
        }
        const { as_of_point, ...rest } = body
        expect(as_of_point).toEqual({ seq, time, configuration: 'current' })
        expect(rest).toEqual(bodies.get(path))
      }
    }
  })

  it('finds no position and no score of what was not there yet', async () => {
    const [ann] = (await server.call('GET', '/contributors')).body as unknown as readonly { id: string }[]
    expect((await server.call('GET', `/contributors/${ann?.id}/score`)).status).toBe(200)
    const early = await server.call('GET', withAsOf(`/contributors/${ann?.id}/score`, 1))
    expect([early.status, early.body['code']]).toEqual([404, 'contributor.not_found'])
    expect((await server.call('GET', withAsOf('/positions/nope', 3))).body).toEqual({
      detail: 'Position not found',
    })
  })

  it('refuses what is no place in the log, and says why', async () => {
    const { seq } = await server.log.head()
    for (const [point, status, code, detail] of [
      [seq + 1, 404, 'as_of.out_of_range', `the last event has number ${seq}`],
      [0, 404, 'as_of.out_of_range', 'the first event has number 1'],
      ['2020-01-01', 404, 'as_of.out_of_range', 'the first event was recorded at 2026-02-20T00:30:00.000Z'],
      ['2030-01-01', 404, 'as_of.out_of_range', '2030-01-01T00:00:00.000Z has not come yet'],
      ['yesterday', 422, 'request.invalid', 'must be the number of an event, or a date and time'],
      ['-1', 422, 'request.invalid', 'must be the number of an event'],
    ] as const) {
      const { status: got, body } = await server.call('GET', withAsOf('/brain/status', point))
      expect([got, body['code']]).toEqual([status, code])
      expect(body['detail']).toContain(detail)
    }
    expect((await server.call('GET', '/brain/status?as_of=')).body).not.toHaveProperty('as_of_point')
  })

  it('says when too many ask at once', async () => {
    const { seq } = await server.log.head()
    const asked = Array.from({ length: 16 }, () => server.call('GET', withAsOf('/kill-switch', seq - 2)))
    const statuses = (await Promise.all(asked)).map(({ status, body }) =>
      status === 200 ? 200 : body['code'],
    )
    expect(new Set(statuses).size).toBeLessThanOrEqual(2)
    for (const status of statuses) expect([200, 'as_of.busy']).toContain(status)
  })

  it('is an argument of the tools of agents', async () => {
    const [first, second] = then
    const asOf = { as_of: String(first?.seq) }
    const status = resultOf(await tool('get_brain_status', asOf))
    expect(status.value).toMatchObject({ kill_switch_level: 1, as_of_point: { seq: first?.seq } })
    const later = resultOf(await tool('get_brain_status', { as_of: second?.time }))
    expect(later.value).toMatchObject({ kill_switch_level: 2 })
    expect(resultOf(await tool('get_open_positions', asOf)).value).toEqual([])
    expect(resultOf(await tool('get_portfolio', asOf)).value).toMatchObject({ as_of: first?.time })
    expect(resultOf(await tool('get_weights', asOf)).value).toMatchObject({
      as_of_point: { seq: first?.seq },
    })
    const refused = resultOf(await tool('get_portfolio', { as_of: '999999' }))
    expect([refused.isError, refused.value]).toMatchObject([true, { error: 'as_of_out_of_range' }])
  })
})
