/** Every word a client may find as `type` of a validation error. Words are only added. */
export const FAULT_TYPES = [
  'missing',
  'string_type',
  'string_too_short',
  'string_too_long',
  'string_pattern',
  'unicode_invalid',
  'number_type',
  'number_not_finite',
  'int_type',
  'greater_than_equal',
  'less_than_equal',
  'enum',
  'boolean_type',
  'object_type',
  'array_type',
  'too_deep',
  'too_large',
  'timestamp_invalid',
  'timestamp_in_future',
  'url_invalid',
  'cron_invalid',
  'unknown_key',
  'conflict',
] as const

export type FaultType = (typeof FAULT_TYPES)[number]
