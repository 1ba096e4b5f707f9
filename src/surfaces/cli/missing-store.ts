/** Describes a home whose identity has written a log that is gone. */
export const missingSentence = (home: string, place: string): string =>
  `${place} is missing: the identity of this home has written a log there, and nothing is stored in ${home}`

export const MISSING_STEPS = [
  'Put the data folder back, or restore a backup: svc restore <file>',
  'If there is no copy: start the service, which locks itself, and run svc integrity --accept-loss --reason "<why>"',
  'Compare positions and orders with the venue, then lower the kill switch',
] as const
