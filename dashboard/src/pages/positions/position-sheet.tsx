import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queries } from '../../api/queries.ts'
import type { Position } from '../../api/trading.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatDuration, formatNumber, formatWords } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { useNow } from '../../ui/now.ts'
import { Percent, Pnl, Price, Quantity, Stat, Unknown, Usd } from '../../ui/numbers.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { EventLinks } from '../audit/trail.tsx'
import { ExitBadge } from './closed-panel.tsx'
import { heldMs, isOpen, pnlOf, returnOf, riskMultipleOf } from './figures.ts'
import { PriceChart } from './price-chart.tsx'
import { useClose } from './use-close.ts'
import { Reasons } from './reasons.tsx'

/** One position: result, price, why it was opened, and everything that happened to it. */
export const PositionSheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.position(id))
  const title = query.data === undefined ? 'Position' : `${query.data.asset} ${query.data.direction}`
  return (
    <Dialog title={title} form="sheet" onClose={onClose}>
      <QueryContent query={query} what="the position">
        {(position) => (
          <div className="grid gap-6">
            <Result position={position} />
            <PriceChart key={position.closed_at} position={position} />
            <Terms position={position} />
            <Reasons convictionId={position.conviction_id} symbol={position.asset} />
            <History id={position.id} />
          </div>
        )}
      </QueryContent>
    </Dialog>
  )
}

const Result = ({ position }: { readonly position: Position }) => {
  const { close, closingId } = useClose()
  const held = useNow((nowMs) => formatDuration(heldMs(position, nowMs)))
  const multiple = riskMultipleOf(position)
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap gap-1.5">
          <DirectionBadge direction={position.direction} />
          <Badge tone={isOpen(position) ? 'accent' : 'neutral'}>{formatWords(position.status)}</Badge>
          {position.exit_reason === null ? null : <ExitBadge reason={position.exit_reason} />}
        </div>
        {isOpen(position) ? (
          <Button
            look="danger"
            size="small"
            busy={closingId !== null}
            disabled={position.status === 'closing'}
            onClick={() => void close(position)}
          >
            Close position
          </Button>
        ) : null}
      </div>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat label={isOpen(position) ? 'Unrealized' : 'Realized, net'}>
          <Pnl value={pnlOf(position)} />
        </Stat>
        <Stat label="Of its size">
          <Percent value={returnOf(position)} toned />
        </Stat>
        <Stat label="Risks won">
          {multiple === null ? <Unknown why="it has no stop" /> : `${formatNumber(multiple)} R`}
        </Stat>
        <Stat label="Held">{held}</Stat>
      </dl>
    </div>
  )
}

const Terms = ({ position }: { readonly position: Position }) => (
  <Section title="Terms">
    <div className="grid gap-x-6 gap-y-1.5 sm:grid-cols-2">
      <Facts facts={pricesOf(position)} />
      <Facts facts={circumstancesOf(position)} />
    </div>
  </Section>
)

type FactList = readonly (readonly [string, ReactNode])[]

const pricesOf = (position: Position): FactList => [
  ['Entry', <Price key="entry" value={position.entry_price} />],
  isOpen(position)
    ? ['Mark', <Price key="mark" value={position.mark_price} />]
    : ['Exit', <Price key="exit" value={position.exit_price} />],
  ['Stop', <Price key="stop" value={position.stop_loss} />],
  ['Target', <Price key="target" value={position.take_profit} />],
  ['Size', <Usd key="size" value={position.size_notional} />],
  ['Quantity', <Quantity key="quantity" value={position.quantity} unit={position.asset} />],
]

const circumstancesOf = (position: Position): FactList => [
  ['Opened', <Time key="opened" at={position.opened_at} />],
  ['Closed', <Time key="closed" at={position.closed_at} />],
  ['Fees', <Usd key="fees" value={position.fees_usd} />],
  [
    'Leverage',
    position.leverage === null ? (
      <Unknown key="leverage" />
    ) : (
      `${formatNumber(position.leverage)}×, ${position.margin_type ?? ''}`
    ),
  ],
  ['Regime at entry', position.regime_at_entry ?? <Unknown key="regime" />],
  ['Venue', position.platform],
  ['Id', <Id key="id" id={position.id} />],
]

/** Every event about it, oldest first. */
const History = ({ id }: { readonly id: string }) => {
  const query = useQuery(queries.events({ about: id, order: 'asc', limit: 100 }))
  return (
    <Section title="What happened">
      <QueryContent query={query} what="its events">
        {({ items, next_seq }) => (
          <>
            <EventLinks events={items} otherwise="No event is about it." />
            {next_seq === null ? null : (
              <Link
                to="/audit"
                search={{ about: id } as never}
                className="text-[13px] text-accent underline underline-offset-2"
              >
                All events about it
              </Link>
            )}
          </>
        )}
      </QueryContent>
    </Section>
  )
}
