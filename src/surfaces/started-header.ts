/**
 * Header of responses to GET /health. It shows a command whether the service belongs to its home, whatever happens to
 * the clock.
 */
export const STARTED_HEADER = 'x-started-at-ms'
