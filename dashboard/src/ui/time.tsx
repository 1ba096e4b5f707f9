import { useSyncExternalStore } from 'react'
import { serverNow } from '../api/server-clock.ts'
import { formatDuration } from './format.ts'
import { Unknown } from './numbers.tsx'

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const DATE_CLOCK = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const DAY_MS = 86_400_000

interface TimeProps {
  /** ISO 8601, as the service writes it. */
  readonly at: string | null | undefined
  /** `ago`: how long it is since. `clock`: in the viewer's zone, with the date if it is not today. `full`: both. */
  readonly as?: 'ago' | 'clock' | 'full'
}

/** A moment in the viewer's zone; UTC on hover. */
export const Time = ({ at, as = 'clock' }: TimeProps) => {
  if (at === null || at === undefined || at === '') return <Unknown why="never" />
  const utc = `${at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`
  return (
    <time dateTime={at} title={utc} className="whitespace-nowrap">
      {as === 'ago' ? <Ago at={at} /> : <Clock at={at} isFull={as === 'full'} />}
    </time>
  )
}

const Ago = ({ at }: { readonly at: string }) => <>{useNow((nowMs) => agoText(Date.parse(at), nowMs))}</>

const Clock = ({ at, isFull }: { readonly at: string; readonly isFull: boolean }) => {
  const time = new Date(at)
  const isToday = useNow((nowMs) => isSameDay(nowMs, time.getTime()))
  return <>{isFull || !isToday ? DATE_CLOCK.format(time) : CLOCK.format(time)}</>
}

const isSameDay = (one: number, other: number): boolean =>
  Math.abs(one - other) < DAY_MS && new Date(one).getDate() === new Date(other).getDate()

/** Coarser with age. */
const agoText = (atMs: number, nowMs: number): string => {
  const ms = nowMs - atMs
  if (Math.abs(ms) < 1500) return 'now'
  const coarse = Math.abs(ms) < 60_000 ? Math.abs(ms) : Math.floor(Math.abs(ms) / 60_000) * 60_000
  return ms > 0 ? `${formatDuration(coarse)} ago` : `in ${formatDuration(coarse)}`
}

const TICK_MS = 1000

const listeners = new Set<() => void>()
let nowMs = serverNow()
let timer: ReturnType<typeof setInterval> | null = null

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

const tick = (): void => {
  nowMs = serverNow()
  for (const listener of listeners) listener()
}

/** One clock for the whole page: that of the service. `describe` turns the time into what is shown: equal answers draw nothing. */
export const useNow = <Shown extends string | number | boolean>(describe: (nowMs: number) => Shown): Shown =>
  useSyncExternalStore(subscribe, () => describe(nowMs))
