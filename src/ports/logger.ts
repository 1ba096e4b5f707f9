export type LogFields = Readonly<Record<string, unknown>>

/** Lines for operators. Secrets are hidden before a line leaves the process, so anything may be handed over. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}
