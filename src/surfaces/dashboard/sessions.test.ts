import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EndedSessions, isSameOrigin } from './sessions.ts'

it('knows the sessions that another process has ended, also those that were ended later', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-sessions-'))
  const file = join(folder, 'data', 'ended-sessions')
  const [one, other] = [new EndedSessions(file), new EndedSessions(file)]
  expect(other.has('a')).toBe(false)
  one.add('a', 2000, 1000)
  expect([other.has('a'), other.has('b')]).toEqual([true, false])
  one.add('b', 2000, 1000)
  expect([other.has('a'), other.has('b')]).toEqual([true, true])
  await rm(folder, { recursive: true })
})

const HOST = 'localhost:5051'
const OWN = `http://${HOST}`

it.each([
  [{ 'sec-fetch-site': 'same-origin', origin: OWN }, true],
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ origin: OWN }, true],
  // A page of another port or subdomain: the browser calls it the same site, and the origin may be forged by a proxy.
  [{ 'sec-fetch-site': 'same-site', origin: OWN }, false],
  [{ 'sec-fetch-site': 'same-site', origin: 'http://localhost:8080' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: OWN }, false],
  [{ origin: 'http://localhost:8080' }, false],
  [{}, false],
])('lets only pages of the dashboard itself write: %j', (headers, may) => {
  expect(isSameOrigin({ host: HOST, ...headers })).toBe(may)
})
