import { ArrowDown, ArrowUp } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { cx } from './cx.ts'
import { QueryPanel, type QueryPanelProps } from './panel.tsx'
import { Time } from './time.tsx'

export interface Column<Row> {
  readonly name: string
  readonly render: (row: Row) => ReactNode
  /** Alignment. Numbers are on the right. */
  readonly align?: 'left' | 'right'
  /** Value to sort by. Without it the column is not sortable. */
  readonly sortBy?: (row: Row) => string | number
  /** Shown on wide screens only. Put essential values in another column. */
  readonly wide?: boolean
}

interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Makes the whole row pressable. The first column becomes its button for keyboards. */
  readonly onOpen?: (row: Row) => void
  readonly isSelected?: (row: Row) => boolean
  /** Number of rows that are drawn. The table reports the rest. */
  readonly limit?: number
  /** True for a table that scrolls below its head, so that the content below it stays near. */
  readonly isBounded?: boolean
}

interface Sorting {
  readonly name: string
  readonly isDescending: boolean
}

export const Table = <Row,>({
  label,
  columns,
  rows,
  rowKey,
  onOpen,
  isSelected,
  limit = 200,
  isBounded = false,
}: TableProps<Row>) => {
  const [sorting, setSorting] = useState<Sorting | null>(null)
  const shown = sorted(rows, columns, sorting).slice(0, limit)
  return (
    <div
      className={cx('overflow-x-auto', isBounded && 'max-h-[36rem] overflow-y-auto')}
      tabIndex={0}
      role="region"
      aria-label={label}
      onKeyDown={moveBetweenRows}
    >
      <table className="w-full border-collapse text-[13px]">
        <thead className={cx(isBounded && 'sticky top-0 z-10 bg-panel shadow-[0_1px_0_var(--line)]')}>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column) => (
              <HeadCell key={column.name} column={column} sorting={sorting} onSort={setSorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr
              key={rowKey(row)}
              aria-selected={isSelected?.(row)}
              onClick={onOpen === undefined ? undefined : () => onOpen(row)}
              className={cx(
                'border-b border-line last:border-0',
                onOpen !== undefined && 'cursor-pointer hover:bg-raised',
                isSelected?.(row) === true && 'bg-accent-soft',
              )}
            >
              {columns.map((column, index) => (
                <td key={column.name} className={cellClass(column)}>
                  {onOpen !== undefined && index === 0 ? (
                    <button
                      {...ROW}
                      type="button"
                      className="text-left font-medium"
                      onClick={() => onOpen(row)}
                    >
                      {column.render(row)}
                    </button>
                  ) : (
                    column.render(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length ? (
        <p className="px-3 py-2 text-xs text-muted">
          {shown.length} of {rows.length} shown
        </p>
      ) : null}
    </div>
  )
}

const cellClass = ({ align, wide }: Pick<Column<never>, 'align' | 'wide'>): string =>
  cx(
    'px-3 py-1.5 align-middle max-sm:px-2',
    // Names wrap, so that the numbers beside them stay visible.
    align === 'right' ? 'text-right' : 'min-w-16 wrap-anywhere',
    wide === true && 'max-lg:hidden',
  )

interface HeadCellProps<Row> {
  readonly column: Column<Row>
  readonly sorting: Sorting | null
  readonly onSort: (sorting: Sorting | null) => void
}

const HeadCell = <Row,>({ column, sorting, onSort }: HeadCellProps<Row>) => {
  const { name, sortBy } = column
  const current = sorting?.name === name ? sorting : null
  const className = cx(cellClass(column), 'font-medium whitespace-nowrap')
  if (sortBy === undefined) {
    return (
      <th scope="col" className={className}>
        {name}
      </th>
    )
  }
  // Cycles through descending, ascending and unsorted.
  const next =
    current === null
      ? { name, isDescending: true }
      : current.isDescending
        ? { name, isDescending: false }
        : null
  return (
    <th
      scope="col"
      aria-sort={current === null ? 'none' : current.isDescending ? 'descending' : 'ascending'}
      className={className}
    >
      <button
        type="button"
        className={cx(
          'tap inline-flex items-center gap-1 hover:text-text',
          column.align === 'right' && 'justify-end',
        )}
        onClick={() => onSort(next)}
      >
        {name}
        {current === null ? null : current.isDescending ? (
          <ArrowDown className="size-3" aria-hidden />
        ) : (
          <ArrowUp className="size-3" aria-hidden />
        )}
      </button>
    </th>
  )
}

const sorted = <Row,>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | null,
): readonly Row[] => {
  const sortBy = columns.find(({ name }) => name === sorting?.name)?.sortBy
  if (sortBy === undefined || sorting === null) return rows
  const sign = sorting.isDescending ? -1 : 1
  return rows.toSorted((one, other) => {
    const [left, right] = [sortBy(one), sortBy(other)]
    if (left === right) return 0
    return left < right ? -sign : sign
  })
}

/** Attribute of the button of each row. The list around them handles the keys. */
export const ROW = { 'data-row': '' } as const

/** Moves between rows with the up and down keys, instead of a hundred presses of Tab. */
export const moveBetweenRows = (event: KeyboardEvent<HTMLElement>): void => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || !(event.target instanceof HTMLElement)) return
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')]
  const current = rows.indexOf(event.target)
  // If the list itself has the focus, the down key moves to its first row.
  const next = current === -1 && step === 1 ? rows[0] : rows[current + step]
  if (next === undefined || (current === -1 && event.target !== event.currentTarget)) return
  event.preventDefault()
  next.focus()
}

/** Options of a column that is hidden on narrow screens. */
export const WIDE = { wide: true } as const

/** A sortable column of numbers on the right. `Show` draws one of them. */
export const numberColumn = <Row,>(
  name: string,
  valueOf: (row: Row) => number | null,
  Show: (props: { readonly value: number | null }) => ReactNode,
  options: Partial<Column<Row>> = {},
): Column<Row> => ({
  name,
  align: 'right',
  render: (row) => <Show value={valueOf(row)} />,
  sortBy: (row) => valueOf(row) ?? -Infinity,
  ...options,
})

/** A sortable column of ages on the right. */
export const ageColumn = <Row,>(
  name: string,
  atOf: (row: Row) => string | null,
  options: Partial<Column<Row>> = {},
): Column<Row> => ({
  name,
  align: 'right',
  render: (row) => <Time at={atOf(row)} as="ago" />,
  sortBy: (row) => atOf(row) ?? '',
  ...options,
})

type TablePanelProps<Data, Row> = Omit<TableProps<Row>, 'label' | 'rows'> &
  Pick<QueryPanelProps<Data>, 'title' | 'query' | 'actions' | 'className'> & {
    readonly rows: (data: Data) => readonly Row[]
    /** Label of the table, if it differs from the panel's. */
    readonly label?: string
    /** Content shown instead of a table without rows. */
    readonly empty: ReactNode
  }

/** A panel with a table of a query's rows. */
export const TablePanel = <Data, Row>({
  title,
  query,
  actions,
  className,
  rows,
  label = `List of ${title.toLowerCase()}`,
  empty,
  ...table
}: TablePanelProps<Data, Row>) => (
  <QueryPanel title={title} flush query={query} actions={actions} className={className}>
    {(data) => {
      const listed = rows(data)
      return listed.length === 0 ? empty : <Table {...table} label={label} rows={listed} />
    }}
  </QueryPanel>
)
