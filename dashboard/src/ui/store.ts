import { useSyncExternalStore } from 'react'

/** A value outside of React that components can follow. */
export const createStore = <Value>(initial: Value) => {
  let value = initial
  const subscribers = new Set<() => void>()
  const get = (): Value => value
  const subscribe = (onChange: () => void): (() => void) => {
    subscribers.add(onChange)
    return () => subscribers.delete(onChange)
  }
  return {
    get,
    set: (next: Value): void => {
      value = next
      for (const onChange of subscribers) onChange()
    },
    use: (): Value => useSyncExternalStore(subscribe, get),
  }
}
