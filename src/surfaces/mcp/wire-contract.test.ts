import { expect, it } from 'vitest'
import { typeText } from '../../../test/schema-text.fixture.ts'
import { toolList } from './tool-methods.ts'

// A change is recorded by `npx vitest run src/surfaces/mcp/wire-contract.test.ts -u`.
it('the tools for agents, as wire-contract.txt records them, change only on purpose', async () => {
  const lines = toolList().flatMap(({ name, inputSchema, outputSchema }) => [
    name as string,
    `  takes ${typeText(inputSchema)}`,
    `  answers ${typeText(outputSchema)}`,
  ])
  await expect([...lines, ''].join('\n')).toMatchFileSnapshot('./wire-contract.txt')
})
