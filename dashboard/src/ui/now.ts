import { useSyncExternalStore } from 'react'

const TICK_MS = 1000

const listeners = new Set<() => void>()
let nowMs = Date.now()
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
  nowMs = Date.now()
  for (const listener of listeners) listener()
}

/** One clock for the whole page. `describe` turns the time into what is shown: equal answers draw nothing. */
export const useNow = <Shown extends string | number | boolean>(describe: (nowMs: number) => Shown): Shown =>
  useSyncExternalStore(subscribe, () => describe(nowMs))
