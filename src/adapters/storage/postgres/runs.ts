/** Up to where events are found through runs. */
export const INDEXED_UP_TO = 'coalesce((SELECT up_to FROM index_runs ORDER BY from_seq DESC LIMIT 1), 0)'

/** Those runs of an index that may reach between two events. */
export const runsOf = (
  index: 'about' | 'domain_runs',
  condition: string,
  after: string,
  before: string,
): string => `
SELECT * FROM ${index} WHERE ${condition} AND run < ${before}
  AND run >= coalesce((SELECT max(run) FROM ${index} WHERE ${condition} AND run <= ${after}), 0)`

/** What runs, which come in order, name between two events, or only such events of it. */
export const seqsOfRuns = ({
  runs,
  only,
  after,
  before,
  order,
  limit,
}: {
  readonly runs: string
  readonly only?: string
  readonly after: string
  readonly before: string
  readonly order: 'asc' | 'desc'
  readonly limit: string
}): string => {
  const named =
    only === undefined
      ? 'SELECT run + place AS seq FROM unnest(places) AS place'
      : // One look along all events of the run is less than one for each that is named.
        `SELECT seq FROM events
         WHERE seq BETWEEN run + places[1] AND run + places[array_upper(places, 1)] AND ${only}`
  return `
SELECT seq FROM (${runs}) AS runs CROSS JOIN LATERAL (${named}) AS named
WHERE seq > ${after} AND seq < ${before}
ORDER BY run ${order}, seq ${order} LIMIT ${limit}`
}
