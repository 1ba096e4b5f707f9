import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TOKEN } from '../http/test-server.fixture.ts'
import { json, startTestDashboard, type TestDashboard } from './dashboard.fixture.ts'

let dashboard: TestDashboard
beforeEach(async () => {
  dashboard = await startTestDashboard()
})
afterEach(() => dashboard.close())

const signIn = async (token: string): Promise<number> =>
  (await dashboard.ask('POST', '/login', json({ token }))).status

/** Sends a sign-in without its last part. */
const begunSignIn = async (token: string) => {
  const body = JSON.stringify({ token })
  const { hostname, port } = new URL(dashboard.url)
  const socket = connect(Number(port), hostname)
  const head = `POST /login HTTP/1.1\r\nHost: ${dashboard.host}\r\nConnection: close\r\n`
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
  socket.write(head + type)
  // The server has started to read the request.
  await new Promise((resolve) => void socket.once('data', resolve))
  socket.write(body.slice(0, -1))
  return { socket, end: () => void socket.write(body.slice(-1)) }
}

describe('wrong tokens', () => {
  it('count also where they are sent together', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => signIn(`guess ${index}`)))
    expect(answers.filter((status) => status === 401)).toHaveLength(10)
    expect(answers.filter((status) => status === 429)).toHaveLength(20)
  })

  it('are not forgotten for a form that was held back', async () => {
    const { socket, end } = await begunSignIn('held')
    dashboard.api.testClock.advance(1000)
    for (let guess = 0; guess < 10; guess += 1) expect(await signIn(`guess ${guess}`)).toBe(401)
    end()
    expect(await text(socket)).toMatch(/^HTTP\/1.1 429 /)
    expect(await signIn('guess')).toBe(429)
  })

  it('are not forgotten for a right one', async () => {
    for (let guess = 0; guess < 9; guess += 1) await signIn(`guess ${guess}`)
    for (let time = 0; time < 3; time += 1) expect(await signIn(TOKEN)).toBe(200)
    expect(await signIn('guess')).toBe(401)
    expect(await signIn('guess')).toBe(429)
  })
})

describe('a client that hangs up in the middle of its sign-in', () => {
  it('leaves nothing in the log', async () => {
    const { socket } = await begunSignIn(TOKEN)
    socket.destroy()
    // A log line would be written by now: the service has answered another request since.
    expect(await signIn(TOKEN)).toBe(200)
    expect(dashboard.api.logLines.join('')).not.toContain('dashboard request failed')
  })
})

describe('a session that was opened while the clock was ahead', () => {
  const isSignedIn = async (cookie: string): Promise<unknown> => {
    const { text: answer } = await dashboard.ask('GET', '/session', { headers: { cookie } })
    return (JSON.parse(answer) as { signed_in: boolean }).signed_in
  }

  it('ends once the clock is right, unless that is a matter of minutes', async () => {
    const year = 365 * 86_400_000
    const { testClock } = dashboard.api
    testClock.advance(year)
    const cookie = await dashboard.signIn()
    testClock.advance(-60_000)
    expect(await isSignedIn(cookie)).toBe(true)
    testClock.advance(60_000 - year)
    expect(await isSignedIn(cookie)).toBe(false)
    expect((await dashboard.ask('GET', '/api/v1/signals', { headers: { cookie } })).status).toBe(401)
  })
})
