import process from 'node:process'

/** Ctrl-C under npm arrives twice at once: from the terminal, and again from npm. */
const REPEAT_MS_MAX = 2_000

const EXIT_CODES = new Map([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])

/**
 * Hides the repetition from a service that takes a second signal as "now, without waiting". A signal that comes later
 * is meant: somebody is tired of waiting. Call it before the service listens.
 */
export const hideRepeatedSignals = (repeatMsMax = REPEAT_MS_MAX) => {
  const emit = process.emit.bind(process)
  const firstMsOf = new Map()
  const isRepetition = (signal) => {
    const nowMs = performance.now()
    const firstMs = firstMsOf.get(signal)
    if (firstMs === undefined) firstMsOf.set(signal, nowMs)
    return firstMs !== undefined && nowMs - firstMs < repeatMsMax
  }
  process.emit = (event, ...args) => (EXIT_CODES.has(event) && isRepetition(event)) || emit(event, ...args)
  for (const [signal, exitCode] of EXIT_CODES) {
    // With a listener Node does not end by itself; while the service has none, and when it has no more, we do.
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(exitCode)
    })
  }
}
