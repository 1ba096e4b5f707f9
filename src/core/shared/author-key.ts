/** One key per author: a contributor may bear the name of a producer. */
export const authorKey = (contributorId: string | null, producerId: string): string =>
  contributorId === null ? `producer:${producerId}` : `contributor:${contributorId}`
