import type { Contributor } from '../../api/people.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

interface UnplacedProps {
  readonly contributors: readonly Contributor[]
  readonly onOpen: (id: string) => void
}

/** Found by name, below the best: their profile says how they stand. */
export const Unplaced = ({ contributors, onOpen }: UnplacedProps) =>
  contributors.length === 0 ? null : (
    <div className="border-t border-line">
      <h3 className="px-3 pt-3 pb-1 text-sm font-semibold">Not among the best</h3>
      <Table
        label="Contributors that are not among the best"
        columns={COLUMNS}
        rows={contributors}
        rowKey={({ id }) => id}
        onOpen={({ id }) => onOpen(id)}
        limit={50}
      />
    </div>
  )

const COLUMNS: readonly Column<Contributor>[] = [
  { name: 'Contributor', render: ({ name }) => <Untrusted lines={1} text={name} /> },
  { name: 'Node id', render: ({ node_id }) => <Untrusted lines={1} text={node_id} /> },
  { name: 'Role', render: ({ role }) => <Untrusted lines={1} text={role} />, wide: true },
  { name: 'Registered', align: 'right', render: ({ registered_at }) => <Time at={registered_at} as="ago" /> },
]
