import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query'
import { callApi, queryOf } from './client.ts'
import type { EventPage, EventRecord } from './log.ts'
import type { EventFilter } from './queries.ts'

const PAGE_EVENTS = 200

/** What was asked for, newest first, page by page. Not refreshed by events: what one reads stays where it is. */
export const useEventPages = (
  filter: EventFilter,
): UseInfiniteQueryResult<InfiniteData<EventPage>> & { readonly records: readonly EventRecord[] } => {
  const query = useInfiniteQuery({
    queryKey: ['event-pages', filter] as const,
    queryFn: ({ pageParam, signal }) =>
      callApi<EventPage>(
        `/events${queryOf({ ...filter, limit: PAGE_EVENTS, before_seq: pageParam ?? undefined })}`,
        { signal },
      ),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_seq }) => next_seq,
    // What came since somebody last looked is told by nobody else.
    staleTime: 0,
    gcTime: 0,
  })
  return { ...query, records: query.data?.pages.flatMap(({ items }) => items) ?? [] }
}

/** Oldest first, page by page, until all are seen or enough. Yields what each page brings. */
export const readAllEvents = async function* (
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly EventRecord[]> {
  let afterSeq: number | undefined
  for (;;) {
    const path = `/events${queryOf({ ...filter, order: 'asc', limit: 500, after_seq: afterSeq })}`
    const { items, next_seq } = await callApi<EventPage>(path, { signal })
    yield items
    if (next_seq === null) return
    afterSeq = next_seq
  }
}
