import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queries } from '../../api/queries.ts'
import type { KarmaIntent } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatMicroUsd, shortId } from '../../ui/format.ts'
import { Pnl } from '../../ui/numbers.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, numberColumn, TablePanel, WIDE } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { SettleDialog } from './dialogs.tsx'
import { Karma } from './karma.tsx'
import { SignatureBadge } from './signatures.tsx'

/** Maximum number of intents in one settlement. */
const SETTLED_AT_ONCE_MAX = 250

interface IntentsPanelProps {
  readonly className: string
  readonly onOpen: (intent: KarmaIntent) => void
}

export const IntentsPanel = ({ className, onOpen }: IntentsPanelProps) => {
  const query = useQuery(queries.karmaIntents())
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  // The intents at the time the dialog was opened. Karma that accrues or is settled meanwhile must not change the
  // payment.
  const [settling, setSettling] = useState<readonly KarmaIntent[] | null>(null)
  const intents = query.data?.items ?? []
  // Intents that were settled meanwhile are no longer selected.
  const chosen = intents.filter(({ id }) => selected.has(id))
  // Without a selection all intents are settled.
  const settled = chosen.length > 0 ? chosen : intents.slice(0, SETTLED_AT_ONCE_MAX)
  const toggle = (id: string): void =>
    setSelected((known) =>
      known.has(id) ? new Set([...known].filter((one) => one !== id)) : new Set([...known, id]),
    )
  const close = (): void => {
    setSettling(null)
    setSelected(new Set())
  }
  return (
    <>
      <TablePanel
        title="Pending intents"
        className={className}
        query={query}
        actions={
          intents.length === 0 ? null : (
            <>
              <SelectButtons intents={intents} chosen={chosen} onSelect={setSelected} />
              <SettleButton
                settled={settled}
                isAll={chosen.length === 0}
                onSettle={() => setSettling(settled)}
              />
            </>
          )
        }
        label="Karma intents"
        columns={columnsFor(selected, toggle, onOpen)}
        rows={({ items }) => items}
        rowKey={({ id }) => id}
        empty={
          <Empty title="Nothing pending">
            A share of every profitable trade accrues here once karma is enabled and has an address.
          </Empty>
        }
      />
      {settling === null ? null : <SettleDialog intents={settling} onClose={close} />}
    </>
  )
}

interface SelectButtonsProps {
  readonly intents: readonly KarmaIntent[]
  readonly chosen: readonly KarmaIntent[]
  readonly onSelect: (ids: ReadonlySet<string>) => void
}

/** Selects paper or live intents, which are settled separately. */
const SelectButtons = ({ intents, chosen, onSelect }: SelectButtonsProps) => {
  const modes = [...new Set(intents.map(({ mode }) => mode))]
  const select = (mode: KarmaIntent['mode']): void =>
    onSelect(
      new Set(
        intents
          .filter((intent) => intent.mode === mode)
          .slice(0, SETTLED_AT_ONCE_MAX)
          .map(({ id }) => id),
      ),
    )
  return (
    <>
      {modes.map((mode) => (
        <Button key={mode} size="small" look="quiet" onClick={() => select(mode)}>
          Select all{modes.length > 1 ? ` ${mode}` : ''}
        </Button>
      ))}
      {chosen.length === 0 ? null : (
        <Button size="small" look="quiet" onClick={() => onSelect(new Set())}>
          None
        </Button>
      )}
    </>
  )
}

interface SettleButtonProps {
  readonly settled: readonly KarmaIntent[]
  readonly isAll: boolean
  readonly onSettle: () => void
}

const SettleButton = ({ settled, isAll, onSettle }: SettleButtonProps) => {
  const error = whyNotSettled(settled)
  return (
    <Button
      size="small"
      look="primary"
      disabled={error !== null}
      title={error ?? undefined}
      onClick={onSettle}
    >
      Settle {isAll ? 'all' : settled.length} ({formatMicroUsd(totalOf(settled))})
    </Button>
  )
}

const whyNotSettled = (intents: readonly KarmaIntent[]): string | null => {
  if (new Set(intents.map(({ mode }) => mode)).size > 1) return 'Paper and live cannot be settled together'
  return intents.length > SETTLED_AT_ONCE_MAX ? `At most ${SETTLED_AT_ONCE_MAX} at once` : null
}

const totalOf = (intents: readonly KarmaIntent[]): number =>
  intents.reduce((sum, { karma_amount_usd: amount }) => sum + amount, 0)

const columnsFor = (
  selected: ReadonlySet<string>,
  toggle: (id: string) => void,
  onOpen: (intent: KarmaIntent) => void,
): readonly Column<KarmaIntent>[] => [
  {
    name: 'Select',
    render: ({ id, karma_amount_usd }) => (
      <input
        type="checkbox"
        aria-label={`Select ${id}, ${karma_amount_usd} USD`}
        checked={selected.has(id)}
        className="size-4 accent-(--accent)"
        onChange={() => toggle(id)}
      />
    ),
  },
  {
    name: 'Accrued',
    render: (intent) => (
      <button type="button" className="text-left font-medium underline" onClick={() => onOpen(intent)}>
        <Time at={intent.created_at} />
      </button>
    ),
    sortBy: ({ created_at }) => created_at,
  },
  {
    name: 'Trade',
    wide: true,
    render: ({ trade_id }) => (
      <PageLink to="/positions" search={{ position: trade_id }}>
        <code title={trade_id}>{shortId(trade_id)}</code>
      </PageLink>
    ),
  },
  numberColumn('Profit', ({ realized_pnl_usd }) => realized_pnl_usd, Pnl, WIDE),
  numberColumn('Karma', ({ karma_amount_usd }) => karma_amount_usd, Karma),
  {
    name: 'Shared by',
    align: 'right',
    wide: true,
    render: ({ contributors }) => (contributors.length === 0 ? 'none' : contributors.length),
  },
  { name: 'Mode', render: ({ mode }) => <Badge tone={mode === 'live' ? 'warn' : 'neutral'}>{mode}</Badge> },
  { name: 'Signature', wide: true, render: (intent) => <SignatureBadge signed={intent} /> },
]
