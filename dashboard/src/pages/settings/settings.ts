import type { Payload } from '../../api/types.ts'
import { formatQuantity, formatWords } from '../../ui/format.ts'

/** Kind of input of a setting. */
export type SettingType =
  | 'flag'
  | 'maybe-flag'
  | 'choice'
  | 'number'
  | 'text'
  | 'secret'
  | 'texts'
  | 'numbers'
  | 'json'

export interface Setting {
  readonly kind: 'setting'
  /** Key, such as `risk.max_leverage`. */
  readonly key: string
  readonly name: string
  readonly type: SettingType
  readonly description: string
  readonly fallback: unknown
  readonly choices: readonly string[]
  readonly range: string
}

export interface SettingGroup {
  readonly kind: 'group'
  readonly key: string
  readonly name: string
  readonly description: string
  readonly members: readonly SettingMember[]
}

export type SettingMember = Setting | SettingGroup

/** The form that a JSON Schema of the configuration describes. */
export const readSettings = (schema: Payload): readonly SettingMember[] => membersOf(schema, '')

/** The value of a key such as `risk.max_leverage`; undefined if it has none. */
export const valueAt = (configuration: Payload, key: string): unknown =>
  key
    .split('.')
    .reduce<unknown>(
      (value, segment) =>
        typeof value === 'object' && value !== null ? (value as Payload)[segment] : undefined,
      configuration,
    )

export const settingsIn = (members: readonly SettingMember[]): readonly Setting[] =>
  members.flatMap((member) => (member.kind === 'setting' ? [member] : settingsIn(member.members)))

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly exclusiveMaximum?: number
  readonly writeOnly?: boolean
}

const membersOf = ({ properties = {} }: Schema, prefix: string): readonly SettingMember[] =>
  Object.entries(properties).map(([segment, schema]) => memberOf(schema, `${prefix}${segment}`, segment))

const memberOf = (schema: Schema, key: string, segment: string): SettingMember => {
  const common = {
    key,
    name: nameOf(segment),
    description: schema.description ?? '',
  }
  if (schema.properties !== undefined) {
    return { kind: 'group', ...common, members: membersOf(schema, `${key}.`) }
  }
  return {
    kind: 'setting',
    ...common,
    type: typeOf(schema),
    fallback: schema.default,
    choices: schema.enum ?? [],
    range: rangeOf(schema),
  }
}

const ABBREVIATIONS = /\b(api|cors|cts|dcg|ema|etf|rsi|ta|ttl|url|usd)\b/g

const nameOf = (segment: string): string => {
  const words = formatWords(segment)
    .replaceAll(ABBREVIATIONS, (word) => word.toUpperCase())
    .replace(/ pct$/, '')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const typeOf = (schema: Schema): SettingType => {
  const types = new Set([schema.type ?? []].flat())
  if (schema.enum !== undefined) return 'choice'
  if (types.has('boolean')) return types.has('null') ? 'maybe-flag' : 'flag'
  if (types.has('number') || types.has('integer')) return 'number'
  if (types.has('string')) return schema.writeOnly === true ? 'secret' : 'text'
  if (!types.has('array')) return 'json'
  if (schema.prefixItems !== undefined) return 'numbers'
  return schema.items?.type === 'string' ? 'texts' : 'json'
}

const rangeOf = ({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Schema): string =>
  [
    ...(minimum === undefined ? [] : [`from ${formatQuantity(minimum)}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${formatQuantity(exclusiveMinimum)}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
      ? []
      : [`to ${formatQuantity(maximum)}`]),
    ...(exclusiveMaximum === undefined ? [] : [`below ${formatQuantity(exclusiveMaximum)}`]),
  ].join(' ')
