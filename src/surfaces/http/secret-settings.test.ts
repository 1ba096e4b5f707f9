import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECRET, valueOf } from '../../core/config/secret-settings.fixture.ts'
import { secretSettings } from '../../core/config/schema.ts'
import { knownSecretsOf, environmentOf } from '../../compose/environment.ts'
import { redactText } from '../../core/operations/redaction.ts'
import { TOOLS } from '../../core/views/capabilities.ts'
import { callersOf } from '../mcp/caller.fixture.ts'
import { ROUTES } from './routes/all.ts'
import { openTestHome, type TestHome } from '../cli/test-home.fixture.ts'
import { startTestServer, type TestServer } from './test-server.fixture.ts'

const settings = [...secretSettings()].map(([key, form]) => ({ key, value: valueOf(key, form) }))
const OPERATOR = settings.find(({ key }) => key === 'api.operator_token')?.value ?? ''

const sections = (): Record<string, Record<string, string>> => {
  const all: Record<string, Record<string, string>> = {}
  for (const { key, value } of settings) {
    const [section = '', name = ''] = key.split('.')
    all[section] = { ...all[section], [name]: value }
  }
  return all
}

let server: TestServer
let home: TestHome
beforeAll(async () => {
  server = await startTestServer({ settings: sections() })
  home = await openTestHome()
})
afterAll(async () => {
  await server.close()
  await home.close()
})

describe('secret settings', () => {
  it('are in no response of REST', async () => {
    const answers: string[] = []
    for (const { method, url, streams } of ROUTES) {
      if (streams === true || !['GET', 'POST'].includes(method)) continue
      const json = method === 'POST' ? { json: sections() } : {}
      answers.push(
        (await server.callRoot(method, url.replaceAll(/:\w+/g, 'none'), { token: OPERATOR, ...json })).text,
      )
    }
    expect(answers.length).toBeGreaterThan(50)
    expect(answers.filter((text) => text.includes(SECRET))).toEqual([])
    const { body } = await server.call('GET', '/config', { token: OPERATOR })
    expect(body['store']).toMatchObject({ checkpoint_webhook: 'http://127.0.0.1:1/***REDACTED***' })
  })

  it('are in no answer of a tool, no event and no line of the log', async () => {
    const authorization = `Bearer ${OPERATOR}`
    const answers = []
    for (const { name } of TOOLS) answers.push(await callersOf(server).tool(name, {}, { authorization }))
    const change = { store: { checkpoint_webhook: `http://127.0.0.1:1/${SECRET}/other` } }
    expect((await server.call('POST', '/config', { token: OPERATOR, json: change })).status).toBe(200)
    const wrong = {
      store: { checkpoint_webhook: `ftp://${SECRET}` },
      api: { auth_token: `${SECRET} ${SECRET}` },
    }
    answers.push((await server.call('POST', '/config', { token: OPERATOR, json: wrong })).text)
    answers.push(await server.log.read({ order: 'asc', limit: 1000 }))
    expect(JSON.stringify([answers, server.logLines])).not.toContain(SECRET)
  })

  it.each(settings)(
    '$key is known to whoever writes logs and errors, from a file or a variable',
    ({ key, value }) => {
      const variable = `SVC_${key.toUpperCase().replace('.', '__')}`
      const environment = environmentOf('/nowhere', { [variable]: value }, 'test')
      expect(redactText(`it failed: ${value}`, knownSecretsOf(environment, null))).not.toContain(SECRET)
      const known = knownSecretsOf(environmentOf('/nowhere', {}, 'test'), server.configuration.current())
      expect(redactText(`it failed: ${value}`, known)).not.toContain(SECRET)
    },
  )

  it.each(settings)('$key is in no output of svc config', async ({ key, value }) => {
    const environment = { SVC_INSECURE_OK: '1' }
    const set = await home.run(['config', 'set', key, '-'], { stdin: value, environment })
    const shown = await home.run(['config', 'show', '--json'], { environment })
    const got = await home.run(['config', 'get', key], { environment })
    expect([set.exitCode, shown.exitCode]).toEqual([0, 0])
    expect(JSON.stringify([set, shown, got])).not.toContain(SECRET)
    await home.run(['config', 'set', key, ''], { environment })
  })
})

describe('a change of settings', () => {
  it('names the token or the access key that made it', async () => {
    const json = { name: 'desk-1', scopes: ['operate'] }
    const key = await server.call('POST', '/access-keys', { token: OPERATOR, json })
    const change = (token: string, seed: number) =>
      server.call('POST', '/config', { token, json: { brain: { cycle_interval_seconds: seed } } })
    const auth = settings.find(({ key: name }) => name === 'api.auth_token')?.value ?? ''
    await change(OPERATOR, 71)
    await change(auth, 72)
    await change(String(key.body['secret']), 73)
    const records = await server.log.read({ types: ['system.config_changed'], order: 'desc', limit: 3 })
    const by = records.map(({ payload }) => (JSON.parse(payload) as { changed_by: string }).changed_by)
    expect(by).toEqual([expect.stringMatching(/^key:desk-1:[0-9a-f]{16}$/), 'token', 'operator'])
  })
})
