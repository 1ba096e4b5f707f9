import { pino } from 'pino'
import { redactText, redactValue } from '../../../core/operations/redaction.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LogFields, Logger } from '../../../ports/logger.ts'
import { LineWriter } from './line-writer.ts'

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'

export interface LoggerOptions {
  readonly level: LogLevel
  /** JSON lines for machines, or readable lines for people. */
  readonly jsonOutput: boolean
  /** Configured tokens and passwords: hidden wherever they appear. */
  readonly secrets: readonly string[]
  readonly clock: Pick<Clock, 'now'>
  /** Takes whole lines (default: standard error). */
  readonly write?: (line: string) => void
  /** Readable lines for a screen, with short times (default: whether standard error is a terminal). */
  readonly terminal?: boolean
}

/** A logger whose level, form and known secrets may change while it runs. */
export interface AdjustableLogger extends Logger {
  setSecrets(secrets: readonly string[]): void
  setLevel(level: LogLevel): void
  setJsonOutput(jsonOutput: boolean): void
}

export const createLogger = (options: LoggerOptions): AdjustableLogger => {
  const standardError = options.write === undefined ? openStandardError() : null
  const write = options.write ?? ((line: string) => standardError?.write(line))
  const lineOf = (options.terminal ?? process.stderr.isTTY) ? terminalLine : readableLine
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
        write(jsonOutput ? line : lineOf(JSON.parse(line) as LogRecord))
      },
    },
  )

  const log =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      if (!lines.isLevelEnabled(level)) return
      const lost = standardError?.takeLost() ?? 0
      if (lost > 0) lines.error({ lines: lost }, 'lines of this log are missing here: nobody took them')
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

let standardErrorWriter: LineWriter | null = null

/** One for all loggers of the process. */
const openStandardError = (): LineWriter => {
  if (standardErrorWriter !== null) return standardErrorWriter
  const writer = new LineWriter(2)
  process.on('exit', () => writer.finish())
  standardErrorWriter = writer
  return writer
}

/** A field that cannot be read must not cost the message beside it. */
const hiddenFields = (fields: LogFields, secrets: readonly string[]): object => {
  try {
    return redactValue(fields, secrets) as object
  } catch (error) {
    return { fields: '[unreadable]', reason: redactText(String(error), secrets) }
  }
}

/** JSON with two members of one name is read differently by every parser. */
const withoutReservedNames = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [RESERVED_NAMES.has(name) ? `${name}_` : name, value]),
  )

type LogRecord = Readonly<Record<string, unknown>>

/** A record as one line for people: time, level, message, then the fields. */
const readableLine = ({ ts, level, ...rest }: LogRecord): string =>
  `${stringOrEmpty(ts)} ${stringOrEmpty(level).padEnd(LEVEL_WIDTH)} ${messageOf(rest)}\n`

/** Formats a line for a terminal: local time of day, and the level unless it is INFO. */
const terminalLine = ({ ts, level, ...rest }: LogRecord): string => {
  const time = new Date(stringOrEmpty(ts)).toTimeString().slice(0, TIME_WIDTH)
  return `${time} ${level === 'INFO' ? '' : `${stringOrEmpty(level)} `}${messageOf(rest)}\n`
}

const LEVEL_WIDTH = 'WARNING'.length
const TIME_WIDTH = 'HH:MM:SS'.length
const PLAIN_WORD = /^[\w.:/@*+-]+$/

const messageOf = ({ message, ...fields }: LogRecord): string =>
  [
    printable(stringOrEmpty(message)),
    ...Object.entries(fields).map(([name, value]) => `${printable(name)}=${fieldText(value)}`),
  ].join(' ')

const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

const fieldText = (value: unknown): string =>
  typeof value === 'string' && PLAIN_WORD.test(value) ? value : printable(JSON.stringify(value))

/** One record is one line, and no text from outside can move the cursor or forge a second record. */
const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (unit) => JSON.stringify(unit).slice(1, -1))

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g
