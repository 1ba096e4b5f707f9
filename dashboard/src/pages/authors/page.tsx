import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Author, AuthorGroup } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { cx } from '../../ui/cx.ts'
import { formatCount, formatFixed, formatPercent } from '../../ui/format.ts'
import { Count, Score } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, numberColumn, Table, WIDE } from '../../ui/table.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { AuthorSheet } from './author-sheet.tsx'
import { CalibrationPlot } from './calibration.tsx'
import { AuthorLink, ContributionChart } from './contribution.tsx'
import { formatGrade, IntervalBar, intervalText, skillText } from './interval.tsx'

/** The maximum of the API. */
const AUTHORS_MAX = 200

/** Skill of contributors and producers, and authors that signal together. */
export const Page = () => {
  const query = useQuery(queries.authors(AUTHORS_MAX))
  const [, openAuthor] = useUrlState('author')
  return (
    <div className="grid gap-3 lg:grid-cols-2">
      <QueryPanel title="How good are our authors?" flush query={query} className="lg:col-span-2">
        {({ authors, total }) =>
          authors.length === 0 ? (
            <Empty title="No calls yet">
              Contributors and producers appear here with their first signal that names a symbol and a
              direction.
            </Empty>
          ) : (
            <>
              <p className="border-b border-line px-3 py-2 text-xs text-muted">
                Skill is how much better than chance the newest calls were, from −1 to +1, with the interval
                that holds it with 95 % certainty. The line in the middle of a bar is chance.
              </p>
              <Table
                label="Authors by what they add"
                columns={COLUMNS}
                rows={authors}
                rowKey={({ author }) => author}
                onOpen={({ author }) => openAuthor(author)}
                isBounded
              />
              {total > authors.length ? (
                <p className="px-3 py-2 text-xs text-muted">
                  The first {authors.length} of {formatCount(total)} authors.
                </p>
              ) : null}
            </>
          )
        }
      </QueryPanel>
      <QueryPanel title="Calibration" query={query} actions={<Scope>newest calls of all authors</Scope>}>
        {({ calibration }) => <CalibrationPlot bins={calibration} />}
      </QueryPanel>
      <QueryPanel
        title="Contribution over time"
        query={query}
        actions={<Scope>all listed authors, 90 days</Scope>}
      >
        {({ days }) => <ContributionChart days={days} />}
      </QueryPanel>
      <QueryPanel title="Authors who move together" query={query} className="lg:col-span-2">
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty title="Everybody moves alone">
              Authors whose calls repeat those of another, however late, appear here. They share one weight.
            </Empty>
          ) : (
            <ul className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
              {groups.map((group) => (
                <Group key={group.leader.author} group={group} />
              ))}
            </ul>
          )
        }
      </QueryPanel>
      <AuthorSheet />
    </div>
  )
}

const Scope = ({ children }: { readonly children: string }) => <span className="text-muted">{children}</span>

const COLUMNS: readonly Column<Author>[] = [
  {
    name: 'Author',
    render: ({ name, kind, group, author }) => (
      <span className="block max-w-52 min-w-0 max-md:max-w-28">
        <span className="underline decoration-line underline-offset-4">
          <Untrusted lines={1} text={name} />
        </span>
        <span className="block text-xs font-normal text-muted">
          {kind}
          {group === null || group === author ? '' : ', repeats another'}
        </span>
      </span>
    ),
    sortBy: ({ name }) => name.toLowerCase(),
  },
  {
    name: 'Skill',
    render: (author) =>
      author.outcomes === 0 ? (
        <span className="text-xs text-muted">no outcomes yet</span>
      ) : (
        <span className="flex items-center gap-3 max-md:flex-col max-md:items-stretch max-md:gap-1">
          <span className="shrink-0 md:w-40">
            <strong className="font-semibold">{formatGrade(author.edge)}</strong>
            <span className="text-xs whitespace-nowrap text-muted"> {intervalText(author)}</span>
            <span className={cx('block text-xs', skillTone(author))}>{skillText(author)}</span>
          </span>
          <IntervalBar skill={author} />
        </span>
      ),
    sortBy: ({ edge, outcomes }) => (outcomes === 0 ? -Infinity : edge),
  },
  {
    name: 'Weight',
    align: 'right',
    render: ({ trust }) => formatFixed(trust, 2),
    sortBy: ({ trust }) => trust,
  },
  {
    name: 'Own part',
    align: 'right',
    ...WIDE,
    render: ({ own }) => formatFixed(own, 3),
    sortBy: ({ own }) => own,
  },
  numberColumn('Karma', ({ karma }) => karma, Score, WIDE),
  numberColumn('Score', ({ score }) => score, Score, WIDE),
  numberColumn('Calls', ({ calls }) => calls, Count, WIDE),
]

const skillTone = ({ edge_low, edge_high }: Author): string => {
  if (edge_low > 0) return 'text-good'
  return edge_high < 0 ? 'text-bad' : 'text-muted'
}

/** The first speaks, the others repeat. */
const Group = ({ group: { leader, size, influence, members } }: { readonly group: AuthorGroup }) => (
  <li className="grid content-start gap-2 rounded-md border border-line p-3 text-[13px]">
    <div className="flex items-baseline justify-between gap-3">
      <span className="min-w-0 font-medium">
        <AuthorLink author={leader.author} name={leader.name} />
      </span>
      <span className="text-xs whitespace-nowrap text-muted">speaks first</span>
    </div>
    <ul className="grid gap-1.5" aria-label={`Those who repeat ${leader.name.slice(0, 80)}`}>
      {members.map(({ author, name, overlap }) => (
        <li key={author} className="grid grid-cols-[minmax(0,1fr)_5rem_3rem] items-center gap-2">
          <AuthorLink author={author} name={name} />
          <span aria-hidden className="h-1.5 overflow-hidden rounded-full bg-raised">
            <span className="block h-full rounded-full bg-warn" style={{ width: `${overlap * 100}%` }} />
          </span>
          <span className="text-right text-xs">{formatPercent(overlap, { digits: 0 })}</span>
        </li>
      ))}
    </ul>
    <p className="text-xs text-muted">
      {size} authors{size - 1 > members.length ? `, ${members.length + 1} of them shown` : ''}; influence
      together {formatFixed(influence, 2)}
    </p>
  </li>
)
