import { describe, expect, it } from 'vitest'
import { appendTo } from '../../test/records.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { LogQuery } from '../ports/event-log.ts'
import { readPages } from './read-pages.ts'

const pagesOf = async (query: LogQuery): Promise<readonly (readonly number[])[]> => {
  const log = new MemoryLog()
  await appendTo(log, 6)
  const pages: (readonly number[])[] = []
  for await (const page of readPages(log, query)) pages.push(page.map(({ seq }) => seq))
  return pages
}

describe('reading page by page', () => {
  it.each([
    [
      'up',
      { order: 'asc', limit: 4 },
      [
        [1, 2, 3, 4],
        [5, 6],
      ],
    ],
    [
      'down',
      { order: 'desc', limit: 3 },
      [
        [6, 5, 4],
        [3, 2, 1],
      ],
    ],
    ['within bounds', { after: 1, before: 5, order: 'asc', limit: 2 }, [[2, 3], [4]]],
    ['nothing', { after: 6, order: 'asc', limit: 2 }, []],
  ] as const)('goes %s until there are no more', async (_name, query, pages) => {
    expect(await pagesOf(query)).toEqual(pages)
  })
})
