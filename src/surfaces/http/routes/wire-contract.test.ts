import { afterAll, beforeAll, expect, it } from 'vitest'
import { typeText } from '../../../../test/schema-text.fixture.ts'
import { endpointsOf, readDocument, type OpenApiDocument } from '../openapi-document.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
let document: OpenApiDocument
beforeAll(async () => {
  server = await startTestServer({ asOperator: true })
  document = await readDocument(server)
})
afterAll(() => server.close())

// A change is recorded by `npx vitest run src/surfaces/http/routes/wire-contract.test.ts -u`.
it('the API, as wire-contract.txt records it, changes only on purpose', async () => {
  const operations = endpointsOf(document).flatMap(({ method, path, operation }) => {
    const { operationId, security, parameters = [], requestBody, responses } = operation
    const { tags = [] } = operation as { readonly tags?: readonly string[] }
    return [
      `${method.toUpperCase()} ${path}: ${operationId}, ${tags.join(', ')}, ${security.length === 0 ? 'public' : 'with a token'}`,
      ...parameters.map(
        ({ name, in: place, required, schema }) =>
          `  ${place} ${name}${required ? '' : '?'}: ${typeText(schema)}`,
      ),
      ...Object.entries(requestBody?.content ?? {}).map(
        ([type, { schema }]) =>
          `  body${requestBody?.required === true ? '' : '?'} ${type}: ${typeText(schema)}`,
      ),
      ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content)
          .filter(([type]) => type !== 'application/problem+json')
          .map(([type, { schema }]) => `  ${status} ${type}: ${typeText(schema)}`),
      ),
    ]
  })
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${name} = ${typeText(schema)}`,
  )
  await expect([...operations, '', ...schemas, ''].join('\n')).toMatchFileSnapshot('../wire-contract.txt')
})
