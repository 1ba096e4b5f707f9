import { useQuery } from '@tanstack/react-query'
import { isNotFound } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { ExplainedConviction, Position } from '../../api/types.ts'
import { OldPriceBadge } from '../../app/old-prices.tsx'
import { PageLink } from '../../app/page-link.tsx'
import { AdoptedBadge, Badge, DirectionBadge, ExitBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { QuerySheet } from '../../ui/dialog.tsx'
import { formatDuration, formatNumber, formatWords } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Percent, Pnl, Price, Quantity, Stat, Unknown, Usd } from '../../ui/numbers.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Time, useNow } from '../../ui/time.tsx'
import { EventLinks } from '../audit/event-sheet.tsx'
import { heldMs, isOpen, pnlOf, returnOf, rMultipleOf } from './figures.ts'
import { levelsText, OpeningReasons } from './opening-reasons.tsx'
import { PriceChart } from './price-chart.tsx'
import { useClose } from './use-close.ts'

/** One position: result, price chart, terms, reasons and events. */
export const PositionSheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.position(id))
  const title = query.data === undefined ? 'Position' : `${query.data.asset} ${query.data.direction}`
  return (
    <QuerySheet hasAge query={query} what="the position" title={title} onClose={onClose}>
      {(position) => (
        <div className="grid gap-6">
          <Result position={position} />
          <PriceChart key={position.closed_at} position={position} />
          <Terms position={position} />
          <Reasons position={position} />
          <History id={position.id} />
        </div>
      )}
    </QuerySheet>
  )
}

const Result = ({ position }: { readonly position: Position }) => {
  const close = useClose()
  const held = useNow((nowMs) => formatDuration(heldMs(position, nowMs)))
  const multiple = rMultipleOf(position)
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap gap-1.5">
          <DirectionBadge direction={position.direction} />
          <Badge tone={isOpen(position) ? 'accent' : 'neutral'}>{formatWords(position.status)}</Badge>
          {position.adopted ? <AdoptedBadge /> : null}
          {isOpen(position) ? <OldPriceBadge asset={position.asset} /> : null}
          {position.exit_reason === null ? null : <ExitBadge reason={position.exit_reason} />}
        </div>
        {isOpen(position) ? (
          <Button
            look="danger"
            size="small"
            busy={close.isPending}
            disabled={position.status === 'closing'}
            onClick={() => close.run(position)}
          >
            Close position
          </Button>
        ) : null}
      </div>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat label={isOpen(position) ? 'Unrealized' : 'Realized, net'}>
          <Pnl value={pnlOf(position)} />
        </Stat>
        <Stat label="Return">
          <Percent value={returnOf(position)} toned />
        </Stat>
        <Stat label="R multiple">
          {multiple === null ? <Unknown why="no stop" /> : `${formatNumber(multiple)} R`}
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

const pricesOf = (position: Position) => ({
  Entry: <Price value={position.entry_price} />,
  ...(isOpen(position)
    ? { Mark: <Price value={position.mark_price} /> }
    : { Exit: <Price value={position.exit_price} /> }),
  Stop: <Price value={position.stop_loss} />,
  Target: <Price value={position.take_profit} />,
  Size: <Usd value={position.size_notional} />,
  Quantity: <Quantity value={position.quantity} unit={position.asset} />,
})

const circumstancesOf = (position: Position) => ({
  Opened: <Time at={position.opened_at} />,
  Closed: <Time at={position.closed_at} />,
  Fees: <Usd value={position.fees_usd} />,
  Leverage:
    position.leverage === null ? (
      <Unknown />
    ) : (
      `${formatNumber(position.leverage)}×, ${position.margin_type ?? ''}`
    ),
  'Regime at entry': position.regime_at_entry ?? <Unknown />,
  Venue: position.platform,
  Id: <Id id={position.id} />,
})

/** All events about the position, oldest first. */
const History = ({ id }: { readonly id: string }) => {
  const query = useQuery(queries.events({ about: id, order: 'asc', limit: 100 }))
  return (
    <Section title="Events">
      <QueryContent query={query} what="its events">
        {({ items, next_seq }) => (
          <>
            <EventLinks events={items} otherwise="No events." />
            {next_seq === null ? null : (
              <PageLink to="/audit" search={{ about: id }}>
                All events about it
              </PageLink>
            )}
          </>
        )}
      </QueryContent>
    </Section>
  )
}

/** Reasons at the time of opening: the conviction, and the share of each signal in it. */
const Reasons = ({
  position: { adopted, conviction_id, asset, platform },
}: {
  readonly position: Position
}) => (
  <Section title="Why it was opened">
    {adopted ? (
      <p className="text-[13px] text-muted">
        It was not opened here: {platform} holds it, so it was adopted. It has no stop and no target, and the
        brain does not exit it. Close it here, or at the venue.
      </p>
    ) : conviction_id === null ? (
      <p className="text-[13px] text-muted">It was not opened by a conviction of the brain.</p>
    ) : STRATEGY.test(conviction_id) ? (
      <Proposal id={conviction_id} />
    ) : (
      <Conviction id={conviction_id} symbol={asset} />
    )}
  </Section>
)

/** A strategy uses its name and a time where the brain uses the id of an event. */
const STRATEGY = /^[a-z][a-z0-9_-]*:/

/** The reason of a strategy, which is stored in its intent. */
const Proposal = ({ id }: { readonly id: string }) => {
  const query = useQuery(queries.intents('all', INTENTS_READ))
  return (
    <QueryContent query={query} what="the reason">
      {(intents) => {
        const found = intents.find(({ conviction_id }) => conviction_id === id)
        return found === undefined ? (
          <p className="text-[13px] text-muted">
            It was opened by the strategy {id.slice(0, id.indexOf(':'))}; its intent is older than those that
            are kept.
          </p>
        ) : (
          <OpeningReasons
            direction={found.direction}
            conviction={found.conviction_score}
            rationale={found.rationale}
            scores={null}
            askedFor={found.size_pct}
            stopAndTarget={levelsText(found.stop_loss_pct, found.take_profit_pct)}
            sizing={null}
            inputs={null}
          />
        )
      }}
    </QueryContent>
  )
}

const INTENTS_READ = 500

const Conviction = ({ id, symbol }: { readonly id: string; readonly symbol: string }) => {
  const query = useQuery(queries.explanation(id))
  if (isNotFound(query.error)) {
    return <p className="text-[13px] text-muted">Its conviction is not in the log.</p>
  }
  return (
    <QueryContent query={query} what="the inputs">
      {({ convictions }) => {
        const found =
          convictions.find(({ conviction_id }) => conviction_id === id) ??
          convictions.find((conviction) => conviction.symbol === symbol)
        return found === undefined ? (
          <p className="text-[13px] text-muted">The cycle has no conviction for {symbol}.</p>
        ) : (
          <Explained conviction={found} />
        )
      }}
    </QueryContent>
  )
}

const Explained = ({ conviction }: { readonly conviction: ExplainedConviction }) => {
  const inputs = conviction.inputs.toSorted(
    (one, other) => Math.abs(other.contribution) - Math.abs(one.contribution),
  )
  return (
    <OpeningReasons
      direction={conviction.direction}
      conviction={conviction.effective_conviction}
      scores={conviction}
      askedFor={conviction.intent?.size_pct}
      sizing={conviction.intent?.sizing ?? null}
      inputs={inputs}
    >
      <PageLink to="/brain" search={{ why: conviction.conviction_id }}>
        Full decision
      </PageLink>
    </OpeningReasons>
  )
}
