import type { BacktestRun } from '../../api/types.ts'
import type { Tone } from '../../ui/badge.tsx'

export const STATUS_TONES: Readonly<Record<BacktestRun['status'], Tone>> = {
  queued: 'neutral',
  running: 'accent',
  done: 'good',
  failed: 'bad',
  cancelled: 'neutral',
}

export const hasEnded = ({ status }: Pick<BacktestRun, 'status'>): boolean =>
  status !== 'queued' && status !== 'running'

/** Strategy and parameters of the request, in a few words. */
export const subjectOf = ({ request, kind }: Pick<BacktestRun, 'request' | 'kind'>): string => {
  const strategy = textIn(request, 'strategy', 'brain')
  const set = kind === 'sweep' ? listIn(request, 'set') : pairsOf(request['parameters'])
  return [strategy, ...set.map(String)].join(' ')
}

/** Source of the bars. */
export const sourceOf = ({ request }: Pick<BacktestRun, 'request'>): string => {
  const series = listIn(request, 'data').map(String)
  if (series.length > 0) return series.join(', ')
  if (request['recorded'] === true) return 'the log'
  const symbol = textIn(request, 'symbol', '')
  return symbol === '' ? 'configured or simulated market' : `${symbol}, configured or simulated market`
}

const pairsOf = (value: unknown): readonly string[] =>
  Object.entries(objectIn(value)).map(([name, parameter]) => `${name}=${String(parameter)}`)

export const objectIn = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

export const listIn = (object: Readonly<Record<string, unknown>>, name: string): readonly unknown[] => {
  const value = object[name]
  return Array.isArray(value) ? value : []
}

export const textIn = (
  object: Readonly<Record<string, unknown>>,
  name: string,
  otherwise: string,
): string => {
  const value = object[name]
  return typeof value === 'string' ? value : otherwise
}

export const numberIn = (object: Readonly<Record<string, unknown>>, name: string): number | null => {
  const value = object[name]
  return typeof value === 'number' ? value : null
}

/** The user's producers in the run, and their results. Undefined without any. */
export const ownProducersOf = (report: Readonly<Record<string, unknown>>): string | undefined => {
  const texts = listIn(report, 'own_producers').map((value) => {
    const producer = objectIn(value)
    const failures = numberIn(producer, 'failures') ?? 0
    const counts = `${textIn(producer, 'name', '')}: ${numberIn(producer, 'runs') ?? 0} runs, ${numberIn(producer, 'signals') ?? 0} signals`
    const failed = failures === 0 ? '' : `, ${failures} failures (${textIn(producer, 'last_error', '')})`
    return `${counts}${failed}${textIn(producer, 'set_aside_at', '') === '' ? '' : ', set aside'}`
  })
  return texts.length === 0 ? undefined : texts.join('; ')
}

/** Parameter sets that the strategy of a sweep refused. Undefined without any. */
export const leftOutOf = (report: Readonly<Record<string, unknown>>): string | undefined => {
  const left = objectIn(report['sets_left_out'])
  const count = numberIn(left, 'count')
  return count === null ? undefined : `${count}: ${textIn(left, 'reason', '')}`
}

const DAY_MS = 86_400_000

/** Gain since the start of a run, by day. The report holds the equity at the end of each day. */
export const gainsOf = (
  report: Readonly<Record<string, unknown>>,
): readonly { readonly ts: string; readonly value: number }[] => {
  const start = numberIn(report, 'start_equity_usd')
  const fromMs = Date.parse(textIn(report, 'from', ''))
  if (start === null || start <= 0 || Number.isNaN(fromMs)) return []
  const days = listIn(report, 'equity_usd_by_day').map((equity, day) => ({
    ts: new Date(fromMs + (day + 1) * DAY_MS).toISOString(),
    value: Number(equity) / start - 1,
  }))
  return [{ ts: new Date(fromMs).toISOString(), value: 0 }, ...days]
}
