import { destination, pino } from 'pino'
import { redactText, redactValue } from '../../../core/operations/redaction.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LogFields, Logger } from '../../../ports/logger.ts'
import { readableLine } from './readable-line.ts'

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'

export interface LoggerOptions {
  readonly level: LogLevel
  /** JSON lines for machines, or readable lines for people. */
  readonly jsonOutput: boolean
  /** Configured tokens and passwords: hidden wherever they appear. */
  readonly secrets: readonly string[]
  readonly clock: Pick<Clock, 'now'>
  /** Takes whole lines; standard error unless told. */
  readonly write?: (line: string) => void
}

/** A logger whose level, form and known secrets may change while it runs. */
export interface AdjustableLogger extends Logger {
  setSecrets(secrets: readonly string[]): void
  setLevel(level: LogLevel): void
  setJsonOutput(jsonOutput: boolean): void
}

export const createLogger = (options: LoggerOptions): AdjustableLogger => {
  const write = options.write ?? writeToStandardError()
  let { jsonOutput, secrets } = options

  const lines = pino(
    {
      level: PINO_LEVELS[options.level],
      base: null,
      messageKey: 'message',
      timestamp: () => `,"ts":"${new Date(options.clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: SHOWN_LEVELS[label] ?? label }) },
      serializers: {},
    },
    {
      write: (line: string) => {
        write(jsonOutput ? line : readableLine(JSON.parse(line) as Record<string, unknown>))
      },
    },
  )

  const log =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      if (!lines.isLevelEnabled(level)) return
      lines[level](withoutReservedNames(hiddenFields(fields, secrets)), redactText(message, secrets))
    }

  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    setSecrets: (next) => {
      secrets = next
    },
    setLevel: (level) => {
      lines.level = PINO_LEVELS[level]
    },
    setJsonOutput: (next) => {
      jsonOutput = next
    },
  }
}

const PINO_LEVELS = { DEBUG: 'debug', INFO: 'info', WARNING: 'warn', ERROR: 'error' } as const
const SHOWN_LEVELS: Readonly<Record<string, LogLevel>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
}
const RESERVED_NAMES: ReadonlySet<string> = new Set(['level', 'ts', 'message'])

/** Written at once: the last line before an exit is the one that matters. */
const writeToStandardError = (): ((line: string) => void) => {
  const standardError = destination({ fd: 2, sync: true })
  return (line) => void standardError.write(line)
}

/** A value that cannot even be looked at must not cost us the message beside it. */
const hiddenFields = (fields: LogFields, secrets: readonly string[]): object => {
  try {
    return redactValue(fields, secrets) as object
  } catch (error) {
    return { fields: '[unreadable]', reason: redactText(String(error), secrets) }
  }
}

/** JSON with two members of one name means something else to every reader. */
const withoutReservedNames = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [RESERVED_NAMES.has(name) ? `${name}_` : name, value]),
  )
