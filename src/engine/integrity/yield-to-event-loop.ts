/** Long work is cut into slices of about a millisecond, so that a service that looks after itself goes on answering. */
export const othersFirst = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Events looked at between two such pauses. */
export const SLICE_LENGTH = 50
