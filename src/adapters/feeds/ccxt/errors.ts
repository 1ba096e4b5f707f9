import type { FeedListener } from '../../../ports/market-feed.ts'

/** What is wrong at the moment. Each cause is told when it begins, and again only after it was over. */
export interface ErrorReports {
  /** The feed does not do what it is for: its state is `troubled` until this is cleared. */
  raise(cause: string, message: string): void
  /** Worth knowing, but the feed does its work. */
  mention(cause: string, message: string): void
  clear(cause: string): void
  /** Something that happened and is over. */
  tell(message: string): void
  /** The one that began last. */
  current(): string | null
}

export const createErrorReports = (listener: FeedListener, signal: AbortSignal): ErrorReports => {
  const raised = new Map<string, string>()
  const mentioned = new Set<string>()
  const tell = (message: string): void => {
    if (!signal.aborted) listener.onError(message)
  }
  return {
    raise: (cause, message) => {
      const isNew = !raised.has(cause)
      raised.set(cause, message)
      if (isNew) tell(message)
    },
    mention: (cause, message) => {
      if (mentioned.has(cause)) return
      mentioned.add(cause)
      tell(message)
    },
    clear: (cause) => {
      raised.delete(cause)
      mentioned.delete(cause)
    },
    tell,
    current: () => [...raised.values()].at(-1) ?? null,
  }
}
