import { z } from 'zod'
import type { JsonObject } from '../../core/vocabulary/json.ts'
import { TOOLS_IN_ORDER } from './tools/in-order.ts'

/** What `tools/list` says; made once, since it never changes. */
export const toolList = (): readonly JsonObject[] => (known ??= TOOLS_IN_ORDER.map(entryOf))

let known: readonly JsonObject[] | null = null

const entryOf = ([name, tool]: (typeof TOOLS_IN_ORDER)[number]): JsonObject => ({
  name,
  title: tool.title,
  description: tool.description,
  inputSchema: schemaOf(tool.input),
  outputSchema: schemaOf(tool.output),
  annotations: { ...tool.annotations },
})

/** As input, since then a schema allows members that are added later. */
const schemaOf = (schema: z.ZodType): JsonObject => {
  const { $schema: _dialect, ...written } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override,
  })
  // A union of objects does not say by itself that it is an object, and older clients insist on it.
  return { type: 'object', ...written } as unknown as JsonObject
}

type SchemaContext = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/** The bounds of doubles tell nobody anything. */
const override = ({ jsonSchema }: SchemaContext): void => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
