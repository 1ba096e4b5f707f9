import { beforeAll, expect, it } from 'vitest'
import { register, submit } from './acts.ts'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

interface Score {
  readonly contributor_id: string
  readonly score: number
}

onDefaultStore('contributors', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
  })
  const get = (path: string) => service.call('GET', `/contributors${path}`)
  const post = (body: object) => service.call('POST', '/contributors/register', { body })

  it('the only one on a fresh server is the node itself', async () => {
    expect((await get('/')).body).toMatchObject([{ name: 'local-operator', role: 'operator' }])
  })

  it('are registered once, and found by their id', async () => {
    const ann = { node_id: 'n1', name: 'Ann', role: 'curator' }
    const registered = await post(ann)
    expect(registered.status).toBe(200)
    expect(registered.body).toEqual({
      ...ann,
      id: expect.any(String),
      registered_at: expect.any(String),
      metadata: {},
    })
    expect((await post(ann)).body).toMatchObject({
      status: 409,
      code: 'contributor.duplicate',
      node_id: 'n1',
    })
    expect((await post({ node_id: 'n2', name: 'Bob' })).body).toMatchObject({
      status: 422,
      errors: [{ loc: ['body', 'role'] }],
    })
    expect((await get(`/${(registered.body as { id: string }).id}`)).body).toEqual(registered.body)
    for (const id of ['none', 'n1']) {
      expect((await get(`/${id}`)).body).toMatchObject({ status: 404, code: 'contributor.not_found', id })
    }
  })

  it('have a score that grows with what they submit and what is used of it', async () => {
    const id = await register(service, 'scored')
    const score = async (): Promise<Score> => (await get(`/${id}/score`)).body
    expect(await score()).toMatchObject({ score: 0, last_active: '', streak: 0, signals_submitted: 0 })
    await submit(service, 'scored', { symbol: 'BTC', direction: 'bullish', conviction: 8 })
    expect(await score()).toMatchObject({ score: 10, signals_submitted: 1, signals_accepted: 0 })
    expect((await service.call('POST', '/brain/run')).status).toBe(200)
    const used = await score()
    expect(used).toMatchObject({ signals_submitted: 1, signals_accepted: 1, streak: 1 })
    expect(used.score).toBeGreaterThan(10)
    expect(used.score).toBeLessThanOrEqual(100)
  })

  it('stand in order of their scores', async () => {
    for (let index = 0; index < 20; index += 1) await register(service, `member-${index}`)
    await submit(service, 'member-7', { symbol: 'ETH' })
    const board: readonly Score[] = (await get('/leaderboard')).body
    expect(board).toHaveLength(20)
    const scores = board.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((one, two) => two - one))
    expect(scores.slice(0, 3)).toEqual([expect.any(Number), 10, 0])
    expect((await get('/leaderboard?limit=1')).body).toEqual([
      expect.objectContaining({ contributor_id: board[0]?.contributor_id }),
    ])
    for (const limit of ['0', '201', 'x']) {
      expect((await get(`/leaderboard?limit=${limit}`)).body).toMatchObject({
        status: 422,
        errors: [{ loc: ['query', 'limit'] }],
      })
    }
  })

  it('may bring an attestation', async () => {
    const id = await register(service, 'attested', { eas: { uid: '0x1', attestation: { a: 1 } } })
    const plain = await register(service, 'plain')
    expect((await get(`/${id}/attestation`)).body).toEqual({
      contributor_id: id,
      uid: '0x1',
      attestation: { a: 1 },
    })
    expect((await get('/attestations')).body).toEqual([
      { contributor_id: id, node_id: 'attested', uid: '0x1' },
    ])
    expect((await get(`/${plain}/attestation`)).body).toMatchObject({
      status: 404,
      code: 'contributor.attestation_not_found',
      id: plain,
    })
    expect((await get('/none/attestation')).body).toMatchObject({
      status: 404,
      code: 'contributor.not_found',
      id: 'none',
    })
  })
})
