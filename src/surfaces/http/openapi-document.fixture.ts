import { z } from 'zod'
import type { TestServer } from './test-server.fixture.ts'

/** The part of JSON Schema that our document uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: string
}

interface Example {
  readonly value: unknown
}

interface Media {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, Example | { readonly $ref: string }>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
  readonly example?: unknown
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>>; readonly required: boolean }
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Media>> }>
  >
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly examples: Readonly<Record<string, Example>>
    readonly securitySchemes: object
  }
}

/** An operation with its path and method. */
export interface Endpoint {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

export const readDocument = async (server: Pick<TestServer, 'callRoot'>): Promise<OpenApiDocument> =>
  (await server.callRoot('GET', '/openapi.json', { token: null })).body as unknown as OpenApiDocument

export const endpointsOf = ({ paths }: OpenApiDocument): readonly Endpoint[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )

export const examplesOf = ({ components }: OpenApiDocument, { examples = {} }: Media): readonly unknown[] =>
  Object.values(examples).map((example) => {
    if ('value' in example) return example.value
    return components.examples[example.$ref.replace('#/components/examples/', '')]?.value
  })

export const bodySchemaOf = ({ operation }: Endpoint): Schema | undefined =>
  operation.requestBody?.content['application/json']?.schema

export const bodyExampleOf = ({ operation }: Endpoint): unknown =>
  operation.requestBody?.content['application/json']?.example

export type FaultFinder = (schema: Schema, value: unknown) => string | null

/** Finds the fault of a value by the document's own schemas. Null if it has none. */
export const faultFinder = ({ components }: OpenApiDocument): FaultFinder => {
  const known = new Map<string, z.ZodType>()
  const parserOf = (schema: Schema): z.ZodType => {
    const text = JSON.stringify({ ...schema, $defs: schemasUnder(schema, components.schemas) })
    const local = text
      .replaceAll('"#/components/schemas/', '"#/$defs/')
      // Patterns of JSON Schema support Unicode classes; zod reads them without.
      .replaceAll(String.raw`\\p{Cc}`, String.raw`\\u0000-\\u001f\\u007f-\\u009f`)
    return z.fromJSONSchema(JSON.parse(local) as Parameters<typeof z.fromJSONSchema>[0])
  }
  return (schema, value) => {
    const key = JSON.stringify(schema)
    const parser = known.get(key) ?? parserOf(schema)
    known.set(key, parser)
    const parsed = parser.safeParse(value)
    return parsed.success ? null : z.prettifyError(parsed.error)
  }
}

/** The schemas that a schema refers to, directly or indirectly: building a parser for all schemas takes long. */
const schemasUnder = (
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
): Readonly<Record<string, Schema>> => {
  const found = new Map<string, Schema>()
  const collect = (text: string): void => {
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const named = schemas[name]
      if (named === undefined || found.has(name)) continue
      found.set(name, named)
      collect(JSON.stringify(named))
    }
  }
  collect(JSON.stringify(schema))
  return Object.fromEntries(found)
}

export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The part of an answer that the document does not describe; null if there is none. */
export const undocumented = (
  { operation }: Endpoint,
  { status, headers, text }: Received,
  faultIn: FaultFinder,
): string | null => {
  const documented = operation.responses[String(status)]
  if (documented === undefined) return `status ${status} is not documented`
  const type = headers.get('content-type')?.split(';')[0] ?? null
  if (documented.content === undefined)
    return text === '' ? null : `status ${status} is documented without a body`
  const media = type === null ? undefined : documented.content[type]
  if (media === undefined) return `type ${type} of status ${status} is not documented`
  if (type === 'text/event-stream') return null
  const value = type?.includes('json') === true ? (JSON.parse(text) as unknown) : text
  const fault = faultIn(media.schema, value)
  if (fault !== null || type !== 'application/problem+json') return fault
  const { code } = value as { readonly code: string }
  return code in (media.examples ?? {}) ? null : `code ${code} of status ${status} is not documented`
}
