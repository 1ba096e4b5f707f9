export const WINDOW_MS = 60_000

/** Number of callers counted at the same time. Beyond it the caller with the oldest window is dropped. */
export const CALLERS_MAX = 10_000

interface Window {
  readonly startedAtMs: number
  count: number
}

/** Counts requests or failed sign-ins per caller, in a minute that starts with the first of them. */
export class RateLimit {
  /** Windows by caller. The oldest comes first, since a new window is appended. */
  readonly #windows = new Map<string, Window>()

  /** Counts one more. Returns null if it is allowed, else the seconds until the caller may try again. */
  take(caller: string, perMinuteMax: number, nowMs: number): number | null {
    const window = this.#windowOf(caller, nowMs)
    if (window.count >= perMinuteMax)
      return Math.max(1, Math.ceil((window.startedAtMs + WINDOW_MS - nowMs) / 1000))
    window.count += 1
    return null
  }

  /** Takes back one count. */
  giveBack(caller: string): void {
    const window = this.#windows.get(caller)
    if (window !== undefined && window.count > 0) window.count -= 1
  }

  get size(): number {
    return this.#windows.size
  }

  #windowOf(caller: string, nowMs: number): Window {
    const current = this.#windows.get(caller)
    // A clock that was set back must not lock callers out.
    if (current !== undefined && nowMs >= current.startedAtMs && nowMs < current.startedAtMs + WINDOW_MS) {
      return current
    }
    this.#windows.delete(caller)
    this.#dropOld(nowMs)
    const window = { startedAtMs: nowMs, count: 0 }
    this.#windows.set(caller, window)
    return window
  }

  #dropOld(nowMs: number): void {
    for (const [caller, { startedAtMs }] of this.#windows) {
      const isOver = startedAtMs + WINDOW_MS <= nowMs
      if (!isOver && this.#windows.size < CALLERS_MAX) return
      this.#windows.delete(caller)
    }
  }
}

/**
 * Key under which an address is counted: the IPv4 address, also where IPv6 wraps it, or the IPv6 network (/64). A
 * household gets a whole /64 network, and could otherwise use a new address for every attempt.
 */
export const addressOf = (ip: string): string => {
  const address = ip.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - first.length - last.length }, () => '0')
  const network = [...first, ...zeros, ...last].slice(0, 4)
  return `${network.map((part) => Number.parseInt(part, 16).toString(16)).join(':')}::/64`
}
