import { z } from 'zod'
import { TOOLS } from '../../core/views/capabilities.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { Tool } from './tool.ts'
import { TOOL_BY_NAME } from './tools/all.ts'

/** What `tools/list` says, in the order in which tools are listed everywhere. */
export const toolList = (): readonly JsonObject[] => (made ??= TOOLS.map(entryOf))

/** Null if no tool has this name. */
export const toolNamed = (name: string): Tool | null =>
  Object.hasOwn(TOOL_BY_NAME, name) ? ((TOOL_BY_NAME as Readonly<Record<string, Tool>>)[name] ?? null) : null

// Made once: it takes a while and never changes.
let made: readonly JsonObject[] | null = null

const entryOf = ({ name, description }: (typeof TOOLS)[number]): JsonObject => {
  const { title, advice, input, output, annotations } = TOOL_BY_NAME[name]
  return {
    name,
    title,
    description: advice === undefined ? description : `${description} ${advice}`,
    inputSchema: schemaOf(input),
    outputSchema: schemaOf(output),
    annotations: { ...annotations },
  }
}

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
