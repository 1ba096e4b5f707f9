import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createSealer,
  EndedSessions,
  isBehindTls,
  isCrossOrigin,
  isSameOrigin,
  sessionCookieOf,
  setCookie,
} from './sessions.ts'

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

it.each([
  [{ 'sec-fetch-site': 'none' }, false],
  [{ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' }, false],
  [{ 'sec-fetch-site': 'same-site' }, true],
  [{ origin: OWN }, false],
  [{ origin: 'no origin' }, true],
  [{}, false],
])('knows pages of another origin: %j', (headers, isCross) => {
  expect(isCrossOrigin({ host: 'LOCALHOST:5051', ...headers })).toBe(isCross)
})

it.each([
  ['https', true],
  ['https, http', true],
  ['http, https', false],
  ['http', false],
  [undefined, false],
])('takes the first protocol of a proxy, which is %s, as the one of the browser', (forwarded, isTls) => {
  expect(isBehindTls({ 'x-forwarded-proto': forwarded })).toBe(isTls)
})

describe('a sealed session', () => {
  const secret = new Uint8Array(32).fill(1)
  const session = { token: 'token', expiresAtMs: 2000 }

  it('is opened until it expires', () => {
    const { seal, unseal } = createSealer(secret)
    const sealed = seal(session)
    expect(unseal(sealed, 1999)).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), ...session })
    expect(unseal(sealed, 2000)).toBeNull()
  })

  it('is opened by another process with the same secret alone, under the same id', () => {
    const sealed = createSealer(secret).seal(session)
    const one = createSealer(secret).unseal(sealed, 0)
    expect(one).toMatchObject(session)
    expect(createSealer(secret).unseal(sealed, 0)).toEqual(one)
    expect(createSealer(new Uint8Array(32).fill(2)).unseal(sealed, 0)).toBeNull()
  })

  it('is another text each time', () => {
    const { seal, unseal } = createSealer(secret)
    const [one, other] = [seal(session), seal(session)]
    expect(one).not.toBe(other)
    expect(unseal(one, 0)?.id).not.toBe(unseal(other, 0)?.id)
  })

  it('is not opened if a byte of it was changed or is missing', () => {
    const { seal, unseal } = createSealer(secret)
    const bytes = Buffer.from(seal(session), 'base64url')
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(unseal(changed.toString('base64url'), 0)).toBeNull()
      expect(unseal(bytes.subarray(0, index).toString('base64url'), 0)).toBeNull()
    }
  })
})

it.each([
  [undefined, null],
  ['', null],
  ['svc_session', null],
  ['svc_session=', null],
  ['other=a', null],
  ['other=a;svc_session=b', 'b'],
  ['svc_session=; svc_session=b ; svc_session=c', 'b'],
])('finds the session in the cookies %j', (header, session) => {
  expect(sessionCookieOf(header)).toBe(session)
})

it('writes the cookie in whole seconds', () => {
  const written = 'svc_session=x; Path=/; HttpOnly; SameSite=Strict; Max-Age=1'
  expect(setCookie('x', 1999, false)).toBe(written)
  expect(setCookie('x', 1999, true)).toBe(`${written}; Secure`)
})

describe('the file of ended sessions', () => {
  it('forgets sessions that have expired, is readable by its owner alone, and may be removed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-sessions-'))
    const file = join(folder, 'data', 'ended-sessions')
    const sessions = new EndedSessions(file)
    sessions.add('a', 2000, 1000)
    sessions.add('b', 2001, 1000)
    sessions.add('c', 3000, 2000)
    expect(['a', 'b', 'c'].map((id) => sessions.has(id))).toEqual([false, true, true])
    expect(await readFile(file, 'utf8')).toBe('b 2001\nc 3000\n')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700)
    const later = new EndedSessions(file)
    later.add('d', 4000, 2001)
    expect(await readFile(file, 'utf8')).toBe('c 3000\nd 4000\n')
    expect(sessions.has('d')).toBe(true)
    await rm(file)
    expect(sessions.has('d')).toBe(false)
    await rm(folder, { recursive: true })
  })
})
