/** What goes wrong with a request. */
export type Fault =
  | { readonly kind: 'drop' }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: 'slow'; readonly waitMs: number }
  /** Headers and the first bytes come, the rest does not. */
  | { readonly kind: 'trickle' }
  | { readonly kind: 'garbage' }

/** The switchboard: what goes wrong, from now on. */
export interface Faults {
  /** For requests whose path matches, so often; the first that matches counts. */
  add(path: RegExp, fault: Fault, times?: number): void
  clear(): void
  /** The fault of this request, used up by it. */
  take(path: string): Fault | null
}

export const createFaults = (): Faults => {
  let waiting: Waiting[] = []
  return {
    add: (path, fault, times = Number.POSITIVE_INFINITY) => {
      waiting = [...waiting, { path, fault, left: times }]
    },
    clear: () => {
      waiting = []
    },
    take: (path) => {
      const found = waiting.find((entry) => entry.left > 0 && entry.path.test(path))
      if (found === undefined) return null
      found.left -= 1
      return found.fault
    },
  }
}

interface Waiting {
  readonly path: RegExp
  readonly fault: Fault
  left: number
}
