import type { EventFilter } from '../../api/queries.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { FilterForm } from './filter-form.tsx'
import { UrlField, UrlTimeField } from './url-field.tsx'

export interface AuditFilter {
  readonly type: string
  readonly symbol: string
  readonly author: string
  readonly about: string
  readonly from: string
  readonly to: string
}

/** What of the log is looked at. It is in the address, so that it can be sent to somebody. */
export const useAuditFilter = (): AuditFilter => {
  const [type] = useUrlState('type')
  const [symbol] = useUrlState('symbol')
  const [author] = useUrlState('author')
  const [about] = useUrlState('about')
  const [from] = useUrlState('from')
  const [to] = useUrlState('to')
  return { type, symbol, author, about, from, to }
}

export const queryOfFilter = ({ type, symbol, author, about, from, to }: AuditFilter): EventFilter => ({
  ...(type === '' ? {} : { type: type.replace(/\.$/, '') }),
  ...(symbol === '' ? {} : { symbol }),
  ...(author === '' ? {} : { source: author }),
  ...(about === '' ? {} : { about }),
  ...(isMoment(from) ? { from } : {}),
  ...(isMoment(to) ? { to } : {}),
})

const isMoment = (text: string): boolean => !Number.isNaN(Date.parse(text))

const TYPES = [
  'alert',
  'attribution',
  'brain.conviction',
  'brain.cycle',
  'brain.regime_change',
  'contributor',
  'execution',
  'execution.order_filled',
  'execution.position_closed',
  'execution.position_opened',
  'execution.trade_intent',
  'karma',
  'learning',
  'market.bar',
  'producer.run',
  'signal',
  'signal.curator',
  'signal.ta',
  'system',
  'system.audit',
  'system.config_changed',
  'system.kill_switch',
  'system.started',
] as const

export const FilterBar = () => {
  const count = Object.values(useAuditFilter()).filter((value) => value !== '').length
  return (
    <FilterForm
      label="Events"
      path="/audit"
      count={count}
      className="sm:grid-cols-3 xl:grid-cols-[1.4fr_0.7fr_1fr_1.4fr_1.1fr_1.1fr_auto]"
    >
      <UrlField name="type" label="Type" placeholder="signal.ta" list="audit-types" />
      <UrlField name="symbol" label="Symbol" placeholder="BTC" />
      <UrlField name="author" label="Author" placeholder="exactly, e.g. brain" />
      <UrlField name="about" label="Trace or id" placeholder="trace:… or the id of anything" />
      <UrlTimeField name="from" label="From (your time)" />
      <UrlTimeField name="to" label="To (your time)" />
      <datalist id="audit-types">
        {TYPES.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
    </FilterForm>
  )
}
