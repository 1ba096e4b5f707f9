import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problemsOf } from './openapi.ts'
import type { ProblemCode } from '../problem-codes.ts'
import { isBare, PROBLEM_CODES, statusOf } from './problems.ts'
import {
  endpointsOf,
  examplesOf,
  faultFinder,
  readDocument,
  type OpenApiDocument,
  type Operation,
} from './openapi-document.fixture.ts'
import { bodyIsOptional } from './route.ts'
import { ROUTES } from './routes/all.ts'
import { startTestServer, type TestServer } from './test-server.fixture.ts'

let server: TestServer
let document: OpenApiDocument
beforeAll(async () => {
  server = await startTestServer({ asOperator: true })
  document = await readDocument(server)
})
afterAll(() => server.close())

const FURTHER_RULES = {
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'no-unused-components': 'error',
  'operation-operationId': 'error',
  'operation-singular-tag': 'error',
  'parameter-description': 'error',
} as const

const operations = () => endpointsOf(document)

const operationOf = (method: string, url: string): Operation | undefined =>
  document.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

/** Operations without an item to act on: no karma is owed, no intent waits, nothing is open or held back. */
const NOTHING_THERE = new Set([
  'openTraceSession',
  'approveIntent',
  'cancelOrder',
  'closePosition',
  'denyIntent',
  'migrateWallet',
  'resumeLive',
  'settleKarma',
])

describe('the OpenAPI document', () => {
  it('is version 3.1, with a title', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ title: 'Signal Engine API', version: server.version })
    expect(document.components.securitySchemes).toHaveProperty('bearer')
  })

  it('lists every route with its problems, and nothing else', () => {
    expect(operations()).toHaveLength(ROUTES.length)
    for (const route of ROUTES) {
      const operation = operationOf(route.method, route.url)
      expect(operation, route.url).toMatchObject({ operationId: route.operationId, summary: route.summary })
      expect(operation?.security).toEqual(route.needs === 'public' ? [] : [{ bearer: [] }])
      for (const code of problemsOf(route)) {
        const answer = operation?.responses[String(statusOf(code))]
        expect(answer?.description, `${route.operationId} ${code}`).toContain(`\`${code}\``)
        const type = isBare(code) ? 'application/json' : 'application/problem+json'
        expect(answer?.content).toHaveProperty([type])
      }
      expect(operation?.responses, route.url).toHaveProperty([String(route.successStatus ?? 200), 'content'])
    }
  })

  it('names each operation once', () => {
    const names = operations().map(({ operation }) => operation.operationId)
    expect(new Set(names).size).toBe(names.length)
  })

  it('describes every path parameter, and says what a query may be', () => {
    for (const { path, operation } of operations()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(described.map(({ name }) => name)).toEqual(named)
      expect(described.every(({ required }) => required)).toBe(true)
    }
    const limit = operationOf('GET', '/api/v1/events')?.parameters?.find(({ name }) => name === 'limit')
    expect(limit).toMatchObject({ in: 'query', required: false })
    expect(limit?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 500, default: 100 })
  })

  it('says which bodies may be left out', async () => {
    for (const route of ROUTES) {
      const body = operationOf(route.method, route.url)?.requestBody
      expect(body !== undefined, route.url).toBe(route.body !== undefined)
      if (body !== undefined) expect(body.required, route.url).toBe(!bodyIsOptional(route))
    }
    const optional = ROUTES.filter(bodyIsOptional)
    expect(optional.map(({ operationId }) => operationId)).toEqual([
      'openTraceSession',
      'approveIntent',
      'denyIntent',
      'cancelOrder',
      'closeAllPositions',
      'closePosition',
      'giveFeedback',
    ])
    expect((await server.call('POST', '/positions/close-all')).status).toBe(200)
    expect((await server.call('POST', '/trace/sessions')).status).toBe(201)
    expect((await server.call('POST', '/producers/technical-analysis/feedback')).status).toBe(200)
  })

  it('shows an example of every body and of every answer, each as its schema asks', () => {
    const faultIn = faultFinder(document)
    for (const { operation } of operations()) {
      const answers = Object.values(operation.responses).flatMap(({ content = {} }) => Object.values(content))
      for (const media of answers) {
        const examples = examplesOf(document, media)
        expect(examples, operation.operationId).not.toEqual([])
        for (const example of examples) {
          expect(
            faultIn(media.schema, example),
            `${operation.operationId} ${JSON.stringify(example)}`,
          ).toBeNull()
        }
      }
      const body = operation.requestBody?.content['application/json']
      if (body === undefined) continue
      expect(body.example, operation.operationId).toBeDefined()
      expect(faultIn(body.schema, body.example), operation.operationId).toBeNull()
    }
  })

  it('shows bodies that are really taken', async () => {
    await server.call('POST', '/contributors/register', {
      json: { node_id: 'n0', name: 'Bob', role: 'agent' },
    })
    const made = await server.call('POST', '/trace/sessions', { json: {} })
    for (const { path, method, operation } of operations()) {
      const json = operation.requestBody?.content['application/json']?.example
      if (json === undefined || NOTHING_THERE.has(operation.operationId)) continue
      const id = operation.operationId === 'giveFeedback' ? 'p1' : String(made.body['id'])
      const answer = await server.callRoot(method, path.replace(/\{\w+\}/, id), { json })
      expect(answer.status, `${operation.operationId} ${answer.text}`).toBeLessThan(300)
    }
  })

  it('passes a linter', async () => {
    const config = await createConfig({ extends: ['recommended-strict'], rules: FURTHER_RULES })
    const source = JSON.stringify(document)
    const found = await lintFromString({ source, config, absoluteRef: '/openapi.json' })
    expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
    // Counter-check: the linter finds a duplicate operationId.
    const broken = source.replace('"operationId":"getHealth"', '"operationId":"getRegime"')
    expect(await lintFromString({ source: broken, config, absoluteRef: '/openapi.json' })).toMatchObject([
      { ruleId: 'operation-operationId-unique' },
    ])
  })

  it('is what the page of the documentation shows', async () => {
    const { body } = await server.callRoot('GET', '/docs/json', { token: null })
    expect(body).toEqual(document)
  })

  it('has no dangling reference and no unused part', () => {
    const text = JSON.stringify(document)
    const referred = [...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name)
    const { schemas, examples } = document.components
    const parts = [
      ...Object.keys(schemas).map((name) => `schemas/${name}`),
      ...Object.keys(examples).map((name) => `examples/${name}`),
    ]
    expect(new Set(referred)).toEqual(new Set(parts))
    expect(text).not.toMatch(/"\$ref":"(?!#\/components\/)/)
  })

  it('has no example or default with a secret', () => {
    expect(JSON.stringify(document)).not.toMatch(/a-token-of/)
  })
})

describe('the problems', () => {
  it('all have a code of an area and a reason, and a status', () => {
    for (const code of PROBLEM_CODES) {
      expect(code).toMatch(/^[a-z_]+\.[a-z_]+$/)
      expect(statusOf(code)).toBeGreaterThanOrEqual(400)
    }
    const expected: Partial<Record<ProblemCode, number>> = {
      'request.malformed_json': 400,
      'config.invalid': 400,
      'auth.missing_token': 401,
      'auth.invalid_header': 401,
      'auth.invalid_token': 401,
      'auth.forbidden': 403,
      'cors.origin_denied': 403,
      'route.not_found': 404,
      'event.not_found': 404,
      'route.method_not_allowed': 405,
      'request.timeout': 408,
      'idempotency.conflict': 409,
      'request.too_large': 413,
      'request.unsupported_media_type': 415,
      'request.invalid': 422,
      'kill_switch.active': 423,
      'rate.limited': 429,
      'internal.error': 500,
      'store.unavailable': 503,
      'server.timeout': 503,
      'server.shutting_down': 503,
    }
    for (const [code, status] of Object.entries(expected)) expect(statusOf(code as ProblemCode)).toBe(status)
  })
})

describe('the page of the documentation', () => {
  it('answers at both forms of its path, with a strict policy and only our own files', async () => {
    for (const path of ['/docs', '/docs/']) {
      const { status, headers, text } = await server.callRoot('GET', path, { token: null })
      expect(status).toBe(200)
      expect(headers.get('content-type')).toMatch(/^text\/html/)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'; script-src 'self';")
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
      const addresses = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
      expect(addresses.length).toBeGreaterThan(3)
      for (const address of addresses) {
        const url = new URL(address, server.rootUrl + path)
        expect(url.origin, address).toBe(server.rootUrl)
        const file = await server.callRoot('GET', url.pathname, { token: null })
        expect(file.status, address).toBe(200)
      }
    }
  })

  it('names no third party in its own script', async () => {
    const { text } = await server.callRoot('GET', '/docs/static/swagger-initializer.js', { token: null })
    expect(text).not.toMatch(/https?:\/\/(?!stackoverflow\.com)/)
    expect(text).toContain('validatorUrl: null')
  })

  it('does not leave its folder', async () => {
    for (const path of [
      '/docs/static/../package.json',
      '/docs/static/%2e%2e/package.json',
      '/docs/static/..%2fpackage.json',
    ]) {
      const answer = await server.raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      expect(answer, path).toMatch(/^HTTP\/1\.1 40[034] /)
      expect(answer).not.toContain('"dependencies"')
    }
  })
})
