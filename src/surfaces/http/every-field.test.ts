import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fault } from '../../core/shared/faults.ts'
import { startTestServer, type Called, type TestServer } from './test-server.fixture.ts'
import {
  bodyExampleOf,
  bodySchemaOf,
  endpointsOf,
  readDocument,
  type Endpoint,
  type OpenApiDocument,
  type Schema,
} from './openapi-document.fixture.ts'
import { faultsOfField, type FieldFault } from './field-faults.fixture.ts'

let server: TestServer
let document: OpenApiDocument
let sessionId: string
beforeAll(async () => {
  server = await startTestServer({ asOperator: true })
  document = await readDocument(server)
  await server.call('POST', '/contributors/register', { json: { node_id: 'n1', name: 'Ann', role: 'agent' } })
  const json = { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' }
  await server.call('POST', '/producers/register', { json })
  sessionId = String((await server.call('POST', '/trace/sessions')).body['id'])
})
afterAll(() => server.close())

interface Field {
  readonly path: readonly string[]
  readonly schema: Schema
  readonly isRequired: boolean
}

/** Every member of a body, and the members of its members. */
const fieldsOf = (
  { properties = {}, required = [] }: Schema,
  above: readonly string[] = [],
): readonly Field[] =>
  Object.entries(properties).flatMap(([name, schema]) => {
    const path = [...above, name]
    return [{ path, schema, isRequired: required.includes(name) }, ...fieldsOf(schema, path)]
  })

const WITH_FIELDS = [
  'acknowledgeAlerts',
  'approveIntent',
  'cancelOrder',
  'closeAllPositions',
  'closePosition',
  'createAccessKey',
  'denyIntent',
  'giveFeedback',
  'migrateWallet',
  'openTraceSession',
  'registerContributor',
  'registerProducer',
  'resumeLive',
  'setKillSwitch',
  'startBacktest',
  'startSweep',
  'settleKarma',
  'submitSignal',
  'appendToTraceSession',
]

const ABSENT = Symbol('absent')

/** Copies the object with another value in one place. */
const changed = (object: unknown, [name = '', ...rest]: readonly string[], value: unknown): object => {
  const { [name]: before, ...others } = object as Record<string, unknown>
  const after = rest.length === 0 ? value : changed(before ?? {}, rest, value)
  return after === ABSENT ? others : { ...others, [name]: after }
}

const headSeq = async (): Promise<number> => (await server.engine.log.head()).seq

const urlOf = ({ path, operation }: Endpoint): string =>
  path.replace(/\{\w+\}/, operation.operationId === 'appendToTraceSession' ? sessionId : 'p1')

/** Expected refusal. A settlement has an error code of its own; all other operations share one. */
const refusalOf = ({ operation }: Endpoint): object =>
  operation.operationId === 'settleKarma'
    ? { status: 400, code: 'karma.settlement_rejected' }
    : { status: 422, code: 'request.invalid' }

const saidOf = ({ status, body }: Called) => ({ status, code: body['code'], errors: body['errors'] })

const endpointOf = (operationId: string): Endpoint => {
  const found = endpointsOf(document).find(({ operation }) => operation.operationId === operationId)
  if (found === undefined) throw new Error(`no operation ${operationId}`)
  return found
}

describe('every member of every body', () => {
  it('belongs to an endpoint of this table, or is a configuration or a message of agents', () => {
    const named = endpointsOf(document).filter(
      (endpoint) => fieldsOf(bodySchemaOf(endpoint) ?? {}).length > 0,
    )
    expect(named.map(({ operation }) => operation.operationId).sort()).toEqual(WITH_FIELDS.toSorted())
  })

  it.each(WITH_FIELDS)(
    'of %s is looked at, and what is wrong is refused before anything is written',
    async (id) => {
      const endpoint = endpointOf(id)
      const schema = bodySchemaOf(endpoint) ?? {}
      for (const { path, schema: field, isRequired } of fieldsOf(schema)) {
        const missing: readonly FieldFault[] = isRequired ? [{ value: ABSENT, type: 'missing' }] : []
        for (const { value, type, text } of [...missing, ...faultsOfField(field)]) {
          const json = changed(bodyExampleOf(endpoint), path, value)
          const body = JSON.stringify(json).replace('"<text>"', () => text ?? '"<text>"')
          const before = await headSeq()
          const answer = await server.callRoot(endpoint.method, urlOf(endpoint), { body })
          const what = `${id} ${body.slice(0, 300)}`
          // A value that is valid nowhere is refused before its purpose is checked.
          const expected = text === undefined ? refusalOf(endpoint) : { status: 422, code: 'request.invalid' }
          expect(saidOf(answer), what).toMatchObject(expected)
          const faults = answer.body['errors'] as Fault[]
          expect(
            faults.map((fault) => fault.type),
            what,
          ).toContain(type)
          for (const { loc } of faults) expect(loc, what).toEqual(['body', ...path])
          expect(await headSeq(), what).toBe(before)
        }
      }
    },
  )

  it.each(WITH_FIELDS)('of %s may hold text that is hostile elsewhere, and nothing breaks', async (id) => {
    const endpoint = endpointOf(id)
    for (const { path, schema } of fieldsOf(bodySchemaOf(endpoint) ?? {})) {
      if (![schema.type].flat().includes('string')) continue
      for (const text of [
        '__proto__',
        'constructor',
        '<script>alert(1)</script>',
        "'; DROP TABLE events; --",
      ]) {
        const json = changed(bodyExampleOf(endpoint), path, text)
        const answer = await server.callRoot(endpoint.method, urlOf(endpoint), { json })
        expect(answer.status, `${id} ${JSON.stringify(json)} ${answer.text}`).toBeLessThan(500)
      }
    }
    expect(Object.prototype).toStrictEqual({})
    expect((await server.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
  })

  it.each(['null', '[]', '"text"', '7', 'true'])('has no place in %s, which is no object', async (body) => {
    for (const endpoint of endpointsOf(document)) {
      const { operationId, requestBody } = endpoint.operation
      if (requestBody === undefined || operationId === 'postMcpMessage') continue
      const answer = await server.callRoot(endpoint.method, urlOf(endpoint), { body })
      expect(saidOf(answer), operationId).toMatchObject({
        status: 422,
        errors: [{ loc: ['body'], type: 'object_type' }],
      })
    }
  })

  it('of the configuration has its kind', async () => {
    const before = await headSeq()
    const keys = fieldsOf(document.components.schemas['Configuration'] ?? {})
    expect(keys.length).toBeGreaterThan(100)
    for (const { path, schema } of keys) {
      if (schema.properties !== undefined) continue
      const wrong = faultsOfField(schema).filter((fault) => fault.kind === 'type' && fault.value !== null)
      for (const { value } of wrong.slice(0, 1)) {
        const json = changed({}, path, value)
        const answer = await server.call('POST', '/config/validate', { json })
        const what = `${JSON.stringify(json)} ${answer.text}`
        expect({ status: answer.status, code: answer.body['code'] }, what).toEqual({
          status: 400,
          code: 'config.invalid',
        })
        const locations = (answer.body['errors'] as Fault[]).map(({ loc }) => loc)
        expect(
          locations.some((loc) => path.every((name, index) => loc[index + 1] === name)),
          what,
        ).toBe(true)
      }
    }
    expect(await headSeq()).toBe(before)
  })
})

describe('every parameter of every query and header', () => {
  it('is looked at, and what is wrong is refused', async () => {
    const before = await headSeq()
    for (const { path, method, operation } of endpointsOf(document)) {
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        // An invalid request id is replaced, and the other parameters are only searched for.
        if (place === 'path' || ['x-request-id', 'signal_type', 'since', 'last-event-id'].includes(name))
          continue
        if (name.startsWith('mcp-')) continue
        for (const { value, type } of wireFaultsOf(schema)) {
          const url =
            path.replace(/\{\w+\}/, 'none') +
            (place === 'query' ? `?${name}=${encodeURIComponent(value)}` : '')
          const headers = place === 'header' ? { [name]: value } : {}
          const answer = await server.callRoot(method, url, {
            headers,
            ...(operation.requestBody === undefined
              ? {}
              : { json: operation.requestBody.content['application/json']?.example }),
          })
          const what = `${operation.operationId} ${name}=${value.slice(0, 40)}`
          expect(saidOf(answer), what).toMatchObject({
            status: 422,
            code: 'request.invalid',
            errors: [{ loc: [place, name], type }],
          })
        }
      }
    }
    expect(await headSeq()).toBe(before)
  })

  it('may be given once', async () => {
    for (const { path, method, operation } of endpointsOf(document)) {
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        if (place !== 'query' || schema.type !== 'integer') continue
        const answer = await server.callRoot(method, `${path}?${name}=1&${name}=1`)
        expect(saidOf(answer), `${operation.operationId} ${name}`).toMatchObject({
          status: 422,
          errors: [{ loc: ['query', name], type: 'int_type' }],
        })
      }
    }
  })
})

/** Invalid values of a parameter, which is always text on the wire, with their error types. */
const wireFaultsOf = (schema: Schema): readonly { readonly value: string; readonly type: string }[] => {
  const { enum: values, type, format, minimum, maximum, maxLength } = schema
  if (values !== undefined) return ['', 'nope', '__proto__', String(values[0]).toUpperCase()].map(asEnumFault)
  if (type === 'integer') {
    return [
      ...['', ' ', 'abc', '1.5', '1e2', '0x1', '+1', ' 1', 'NaN', '١', '1;', '__proto__'].map((value) => ({
        value,
        type: 'int_type',
      })),
      ...(minimum === undefined ? [] : [{ value: String(minimum - 1), type: 'greater_than_equal' }]),
      ...(maximum === undefined ? [] : [maximum + 1, '9'.repeat(30)]).map((value) => ({
        value: String(value),
        type: 'less_than_equal',
      })),
    ]
  }
  if (format === 'date-time') {
    return ['now', '2026-02-30', '1e9', '__proto__'].map((value) => ({ value, type: 'timestamp_invalid' }))
  }
  return [
    { value: 'a|b', type: 'string_pattern' },
    { value: 'a\tb', type: 'string_pattern' },
    { value: 'x'.repeat((maxLength ?? 256) + 1), type: 'string_too_long' },
  ]
}

const asEnumFault = (value: string) => ({ value, type: 'enum' })
