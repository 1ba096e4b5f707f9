import type { EventItem } from '../../api/log.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { FilterForm } from '../audit/filter-form.tsx'
import { UrlField } from '../audit/url-field.tsx'
import { symbolOf } from '../audit/summary.ts'

export interface SignalFilter {
  /** Second segment of the type. */
  readonly domain: string
  readonly symbol: string
  readonly author: string
}

export const useSignalFilter = (): SignalFilter => {
  const [domain] = useUrlState('domain')
  const [symbol] = useUrlState('symbol')
  const [author] = useUrlState('author')
  return { domain, symbol, author }
}

export const passes = (event: EventItem, { domain, symbol, author }: SignalFilter): boolean => {
  const [category, second] = event.type.split('.')
  return (
    category === 'signal' &&
    (domain === '' || second === domain) &&
    (symbol === '' || symbolOf(event)?.toUpperCase() === symbol.trim().toUpperCase()) &&
    (author === '' || event.source === author)
  )
}

const DOMAINS = [
  'aci',
  'curator',
  'etf',
  'events',
  'onchain',
  'orderbook',
  'price_alert',
  'price_ws',
  'sentiment',
  'social',
  'stablecoin',
  'ta',
  'tradfi',
  'whale',
] as const

export const FilterBar = () => {
  const count = Object.values(useSignalFilter()).filter((value) => value !== '').length
  return (
    <FilterForm label="Signals" path="/signals" count={count} className="sm:grid-cols-[1fr_1fr_1.5fr_auto]">
      <UrlField name="domain" label="Domain" placeholder="ta, onchain, curator …" list="signal-domains" />
      <UrlField name="symbol" label="Symbol" placeholder="BTC" />
      <UrlField name="author" label="Author" placeholder="a producer or contributor, exactly" />
      <datalist id="signal-domains">
        {DOMAINS.map((domain) => (
          <option key={domain} value={domain} />
        ))}
      </datalist>
    </FilterForm>
  )
}
