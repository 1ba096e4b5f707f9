export type LogFields = Readonly<Record<string, unknown>>

/** Lines for operators. Secrets are redacted before a line is written, so any value may be passed. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}
