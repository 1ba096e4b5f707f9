/** The members of JSON Schema that are for people, and no promise to programs. */
const FOR_PEOPLE = new Set(['description', 'title', 'summary', 'example', 'examples'])

type Schema = Readonly<Record<string, unknown>>

const LINE_LENGTH_MAX = 120

/**
 * A JSON Schema in the form of a type: `{ id: string, limit?: integer(maximum 500) }`. `...` marks an object that may
 * have further members.
 */
export const typeText = (schema: unknown): string => {
  if (typeof schema === 'boolean') return schema ? 'any' : 'nothing'
  const { $ref, anyOf, oneOf, allOf, enum: values, const: value, type, ...rest } = schema as Schema
  const { properties, required, items, additionalProperties, ...limits } = rest
  const bounds = Object.entries(limits)
    .filter(([name]) => !FOR_PEOPLE.has(name))
    .map(([name, limit]) => `${name} ${JSON.stringify(limit)}`)
  const suffix = bounds.length === 0 ? '' : `(${bounds.join(', ')})`
  const choices = anyOf ?? oneOf
  if (typeof $ref === 'string') return `${$ref.split('/').at(-1)}${suffix}`
  if (choices !== undefined) return `${joined(choices, ' | ')}${suffix}`
  if (allOf !== undefined) return `${joined(allOf, ' & ')}${suffix}`
  if (value !== undefined) return `${JSON.stringify(value)}${suffix}`
  if (Array.isArray(values)) return `${values.map((each) => JSON.stringify(each)).join(' | ')}${suffix}`
  if (type === 'array') return `[${typeText(items ?? true)}]${suffix}`
  if (type !== 'object')
    return `${
      type === undefined
        ? 'any'
        : [type]
            .flat()
            .map((each) => JSON.stringify(each))
            .join(' | ')
            .replaceAll('"', '')
    }${suffix}`
  const members = Object.entries((properties ?? {}) as Schema).map(
    ([name, member]) =>
      `${name}${(required as readonly string[])?.includes(name) ? '' : '?'}: ${typeText(member)}`,
  )
  const others = additionalProperties === undefined ? '...' : `...: ${typeText(additionalProperties)}`
  return objectText(additionalProperties === false ? members : [...members, others]) + suffix
}

const joined = (choices: unknown, by: string): string =>
  (choices as readonly unknown[]).map(typeText).join(by)

const objectText = (members: readonly string[]): string => {
  const line = `{ ${members.join(', ')} }`
  if (line.length <= LINE_LENGTH_MAX && !line.includes('\n')) return line
  return `{\n${members.map((member) => `  ${member.replaceAll('\n', '\n  ')}\n`).join('')}}`
}
