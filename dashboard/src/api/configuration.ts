import type { Configuration } from './log.ts'

/** The value of a key such as `risk.max_leverage`; undefined where there is none. */
export const valueAt = (configuration: Configuration | undefined, key: string): unknown =>
  key
    .split('.')
    .reduce<unknown>(
      (value, segment) =>
        typeof value === 'object' && value !== null ? (value as Configuration)[segment] : undefined,
      configuration,
    )

export const numberAt = (configuration: Configuration | undefined, key: string): number | null => {
  const value = valueAt(configuration, key)
  return typeof value === 'number' ? value : null
}

export const textAt = (configuration: Configuration | undefined, key: string): string => {
  const value = valueAt(configuration, key)
  return typeof value === 'string' ? value : ''
}

export const textsAt = (configuration: Configuration | undefined, key: string): readonly string[] => {
  const value = valueAt(configuration, key)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
