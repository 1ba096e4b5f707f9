import { useSyncExternalStore } from 'react'
import { serverNow } from '../api/server-clock.ts'
import { formatDuration } from './format.ts'
import { Unknown } from './numbers.tsx'
import { Untrusted } from './untrusted.tsx'

// Fixed languages, so that month and day cannot be confused, and a list has the same width everywhere.
const FORMATS = {
  today: new Intl.DateTimeFormat('sv-SE', { timeStyle: 'medium' }),
  'this year': new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }),
  earlier: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }),
  full: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' }),
} as const

interface TimeProps {
  /** ISO 8601, as the service writes it. */
  readonly at: string | null | undefined
  /** `ago`: how long it is since. `clock`: in the viewer's zone, as short as its age allows. `full`: with date and seconds. */
  readonly as?: 'ago' | 'clock' | 'full'
}

/** In the viewer's zone; UTC on hover. */
export const Time = ({ at, as = 'clock' }: TimeProps) => {
  if (at === null || at === undefined || at === '') return <Unknown why="never" />
  // In a damaged log a time may be anything.
  if (Number.isNaN(Date.parse(at))) return <Untrusted lines={1} text={at} />
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
  const format = useNow((nowMs) => (isFull ? 'full' : formatFor(time, new Date(nowMs))))
  return <>{FORMATS[format].format(time)}</>
}

const formatFor = (time: Date, now: Date): 'today' | 'this year' | 'earlier' => {
  if (time.toDateString() === now.toDateString()) return 'today'
  return time.getFullYear() === now.getFullYear() ? 'this year' : 'earlier'
}

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
