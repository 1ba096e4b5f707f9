import fc, { type Arbitrary } from 'fast-check'
import {
  bodyExampleOf,
  bodySchemaOf,
  type Endpoint,
  type Parameter,
  type Schema,
} from './openapi-document.fixture.ts'
import { HOSTILE_TEXTS, valueFor } from './schema-values.fixture.ts'
import { OPERATOR_TOKEN, TOKEN } from './test-server.fixture.ts'

/** One request as it goes over the wire. */
export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface RequestWorld {
  /** Texts that name something which exists. */
  readonly lucky: readonly string[]
  /** Bodies of operations whose document says only that they are objects. */
  readonly bodies: Readonly<Record<string, Schema>>
  /** Path segments that lead to another route. */
  readonly fixedSegments: ReadonlySet<string>
}

/** Requests to one endpoint: mostly what the document asks for, sometimes anything but. */
export const requestsTo = (endpoint: Endpoint, world: RequestWorld): Arbitrary<WireRequest> => {
  const parameters = endpoint.operation.parameters ?? []
  const placed = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place)
  return fc
    .record({
      path: pathOf(endpoint.path, placed('path'), world),
      search: queryOf(placed('query'), world),
      given: headersOf(placed('header'), world),
      authorization: AUTHORIZATIONS,
      sent: bodyOf(endpoint, world),
    })
    .map(({ path, search, given, authorization, sent }) => ({
      method: endpoint.method,
      path: search === '' ? path : `${path}?${search}`,
      headers: { ...given, ...sent.headers, ...(authorization === null ? {} : { authorization }) },
      body: sent.body,
    }))
}

const AUTHORIZATIONS = fc.oneof(
  { weight: 20, arbitrary: fc.constant(`Bearer ${OPERATOR_TOKEN}`) },
  { weight: 2, arbitrary: fc.constant(`Bearer ${TOKEN}`) },
  { weight: 1, arbitrary: fc.constantFrom(null, '', 'Bearer', 'Bearer wrong', `Basic ${TOKEN}`, 'x\u00ff') },
)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const pathOf = (
  pattern: string,
  parameters: readonly Parameter[],
  { lucky, fixedSegments }: RequestWorld,
): Arbitrary<string> => {
  const values = parameters.map(({ schema }) =>
    fc
      .oneof({ weight: 2, arbitrary: fc.constantFrom(...lucky) }, valueFor(schema, lucky).map(textOf))
      .map((text) => text.toWellFormed())
      // These are no names: they make another path.
      .filter((text) => text !== '' && text !== '.' && text !== '..' && !fixedSegments.has(text)),
  )
  return fc
    .tuple(...values)
    .map((texts) =>
      parameters.reduce(
        (path, { name }, index) => path.replace(`{${name}}`, () => encodeURIComponent(texts[index] ?? '')),
        pattern,
      ),
    )
}

type Pair = [string, string]

const queryOf = (parameters: readonly Parameter[], { lucky }: RequestWorld): Arbitrary<string> => {
  const pairs = parameters.map(({ name, schema }) =>
    fc.array(
      valueFor(schema, lucky).map((value): Pair => [name, textOf(value).toWellFormed()]),
      {
        maxLength: 2,
        size: 'xsmall',
      },
    ),
  )
  const unknown = fc.array(fc.constantFrom<Pair>(['__proto__', 'x'], ['constructor', ''], ['', '=']), {
    maxLength: 1,
  })
  return fc.tuple(unknown, ...pairs).map((lists) => new URLSearchParams(lists.flat()).toString())
}

const headersOf = (parameters: readonly Parameter[], { lucky }: RequestWorld) =>
  fc
    .record(
      Object.fromEntries(parameters.map(({ name, schema }) => [name, valueFor(schema, lucky).map(headerOf)])),
      { requiredKeys: [] },
    )
    .map((headers) => headers as Readonly<Record<string, string>>)

/** UTF-8 bytes as a header carries them, without what no client can send. */
const headerOf = (value: unknown): string =>
  Buffer.from(textOf(value).toWellFormed())
    .toString('latin1')
    // oxlint-disable-next-line no-control-regex -- exactly these end a header
    .replaceAll(/[\u0000-\u0008\u000a-\u001f\u007f]/g, '')

interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const JSON_HEADERS = { 'content-type': 'application/json' }

const NOTHING: Sent = { headers: {}, body: undefined }

const bodyOf = (endpoint: Endpoint, { lucky, bodies }: RequestWorld): Arbitrary<Sent> => {
  if (endpoint.method === 'GET') return fc.constant(NOTHING)
  const documented = bodySchemaOf(endpoint)
  const schema = bodies[endpoint.operation.operationId] ?? documented ?? {}
  const value = fc.oneof(
    { weight: 1, arbitrary: fc.constant(bodyExampleOf(endpoint)) },
    { weight: 4, arbitrary: nearly(bodyExampleOf(endpoint), schema, lucky) },
    { weight: 6, arbitrary: valueFor(schema, lucky) },
  )
  const proper = value.map((json) => ({ headers: JSON_HEADERS, body: JSON.stringify(json) }))
  return fc.oneof(
    { weight: 12, arbitrary: proper },
    { weight: 1, arbitrary: fc.constant(NOTHING) },
    { weight: 1, arbitrary: BROKEN_TEXTS.map((body) => ({ headers: JSON_HEADERS, body })) },
    { weight: 1, arbitrary: fc.tuple(TYPES, proper).map(([type, { body }]) => ({ headers: type, body })) },
  )
}

/** The example with one member changed: it gets further than what is all chance. */
const nearly = (
  example: unknown,
  { properties = {} }: Schema,
  lucky: readonly string[],
): Arbitrary<unknown> => {
  const changes = Object.entries(properties).map(([name, member]) =>
    valueFor(member, lucky).map((value) => Object.assign({}, example, { [name]: value }) as unknown),
  )
  return fc.oneof(fc.constant(example), ...changes)
}

const BROKEN_TEXTS = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    '{',
    '{"a":1,"a":2}',
    '{"a":1e999}',
    '{"a":"\\ud800"}',
    '{"__proto__":{"a":1}}',
    'nul',
    '\ufeff{}',
  ),
  fc.constantFrom(...HOSTILE_TEXTS).map((text) => text.toWellFormed()),
  fc.integer({ min: 30, max: 60 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
)

const TYPES = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=latin1' },
  { 'content-type': '/' },
  { 'content-type': 'application/json', 'content-encoding': 'gzip' },
)
