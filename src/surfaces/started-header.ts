/** On answers to GET /health: tells the commands of a home whether it is their service, whatever happens to the clock. */
export const STARTED_HEADER = 'x-started-at-ms'
