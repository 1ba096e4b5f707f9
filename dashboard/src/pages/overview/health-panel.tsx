import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ProducerHealth } from '../../api/people.ts'
import { queries, verifyChain } from '../../api/queries.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { formatBytes, formatCount, formatDuration } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { QueryPanel } from '../../ui/panel.tsx'

const CHAIN_CHECK_MS = 60_000

const TONES: Readonly<Record<ProducerHealth, Tone>> = {
  ok: 'good',
  unknown: 'neutral',
  degraded: 'warn',
  stale: 'warn',
  error: 'bad',
  quarantined: 'bad',
}

/** Producers, chain and service: whether all of this can be believed. */
export const HealthPanel = ({ className = '' }: { readonly className?: string }) => {
  const producers = useQuery(queries.producerStatus())
  return (
    <QueryPanel title="Health" className={className} query={producers}>
      {({ producers: byName }) => (
        <div className="grid gap-3">
          <ServiceFacts />
          <ul className="flex flex-wrap gap-1.5" aria-label="Producers">
            {Object.values(byName).map(({ name, health, last_error }) => (
              <li key={name}>
                <Badge tone={TONES[health]} title={last_error ?? health}>
                  {name}: {health}
                </Badge>
              </li>
            ))}
          </ul>
          <Link to="/producers" className="tap text-xs text-accent underline">
            All about producers
          </Link>
        </div>
      )}
    </QueryPanel>
  )
}

const ServiceFacts = () => {
  const { data: health } = useQuery(queries.health())
  const { data: chain } = useQuery({
    queryKey: ['integrity', 'fast'],
    queryFn: () => verifyChain({ mode: 'fast' }),
    refetchInterval: CHAIN_CHECK_MS,
  })
  return (
    <Facts
      facts={[
        [
          'Chain',
          chain === undefined ? (
            '…'
          ) : (
            <Badge key="chain" tone={chain.ok ? 'good' : 'bad'}>
              {chain.ok ? `newest ${formatCount(chain.checked)} verified` : `broken: ${chain.reason ?? ''}`}
            </Badge>
          ),
        ],
        ['Events', chain === undefined ? '…' : formatCount(chain.event_count)],
        ['Store', health === undefined ? '…' : formatBytes(health.db_size_bytes)],
        ['Running for', health === undefined ? '…' : formatDuration(health.uptime_seconds * 1000)],
        ['Version', health?.version ?? '…'],
      ]}
    />
  )
}
