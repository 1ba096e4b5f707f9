import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState, type SyntheticEvent } from 'react'
import { textsAt } from '../../api/configuration.ts'
import type { ConfigurationChange, EventItem } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { confirm } from '../../app/confirm.tsx'
import { useAction } from '../../app/use-action.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { inputClass } from '../../ui/field.tsx'
import { textOf } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

const KEY = 'execution.dcg_symbols'
const SHOWN = 20

/** Symbols that are never entered, and whoever tried. */
export const BlacklistPanel = () => {
  const query = useQuery(queries.config())
  return (
    <QueryPanel title="Never to be entered (DCG)" query={query}>
      {(configuration) => (
        <div className="grid gap-3">
          <Symbols symbols={textsAt(configuration, KEY)} />
          <Violations />
        </div>
      )}
    </QueryPanel>
  )
}

const Symbols = ({ symbols }: { readonly symbols: readonly string[] }) => {
  const { data: form } = useQuery(queries.configForm())
  const isFixed = form?.set_by_environment.includes(KEY) === true
  const save = useAction<readonly string[], ConfigurationChange>({
    request: (listed) => ({ path: '/config', body: { execution: { dcg_symbols: listed } } }),
    done: (_result, listed) => (listed.length > symbols.length ? 'Symbol blocked' : 'Symbol allowed again'),
    refreshes: ['config'],
  })
  const remove = async (symbol: string): Promise<void> => {
    const answer = await confirm({
      title: `Allow ${symbol} again?`,
      text: 'The brain may open positions in it from its next cycle on.',
      confirmLabel: `Allow ${symbol}`,
    })
    if (answer !== null) save.mutate(symbols.filter((one) => one !== symbol))
  }
  return (
    <>
      {symbols.length === 0 ? (
        <p className="text-[13px] text-muted">No symbol is blocked. Exits are never blocked.</p>
      ) : (
        <ul className="flex flex-wrap gap-1.5" aria-label="Blocked symbols">
          {symbols.map((symbol) => (
            <li
              key={symbol}
              className="inline-flex max-w-full items-center rounded-md border border-line bg-raised pl-2 text-[13px] font-medium"
            >
              <Untrusted lines={1} text={symbol} />
              <button
                type="button"
                aria-label={`Allow ${symbol} again`}
                disabled={isFixed || save.isPending}
                className="grid size-7 shrink-0 place-items-center text-muted hover:text-text disabled:opacity-40"
                onClick={() => void remove(symbol)}
              >
                <X className="size-3.5" aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      {isFixed ? (
        <p className="text-xs text-muted">
          Set by the environment (SVC_EXECUTION__DCG_SYMBOLS): change it there and restart.
        </p>
      ) : (
        <AddSymbol
          symbols={symbols}
          isBusy={save.isPending}
          onAdd={(symbol) => save.mutate([...symbols, symbol])}
        />
      )}
    </>
  )
}

interface AddSymbolProps {
  readonly symbols: readonly string[]
  readonly isBusy: boolean
  readonly onAdd: (symbol: string) => void
}

const AddSymbol = ({ symbols, isBusy, onAdd }: AddSymbolProps) => {
  const [text, setText] = useState('')
  const symbol = text.trim().toUpperCase()
  const isKnown = symbols.some((one) => one.trim().toUpperCase() === symbol)
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (symbol === '' || isKnown) return
    onAdd(symbol)
    setText('')
  }
  return (
    <form className="flex gap-2" onSubmit={submit}>
      <input
        aria-label="Symbol to block"
        placeholder="Symbol, such as DOGE"
        value={text}
        maxLength={32}
        className={inputClass}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" busy={isBusy} disabled={symbol === '' || isKnown}>
        Block
      </Button>
    </form>
  )
}

const isViolation = ({ type }: EventItem): boolean => type.startsWith('system.dcg_violation.')

const Violations = () => {
  const { data } = useQuery(queries.events({ type: 'system.dcg_violation', limit: SHOWN }))
  const violations = useRecentEvents(isViolation, { older: data?.items, limit: SHOWN })
  if (violations.length === 0)
    return <p className="text-xs text-muted">No trade was refused because of it yet.</p>
  return (
    <div className="grid gap-1">
      <h3 className="text-xs font-medium text-muted">Refused because of it</h3>
      <ul className="max-h-48 overflow-y-auto text-[13px]" tabIndex={0} aria-label="Refused trades">
        {violations.map(({ id, ts, payload }) => (
          <li key={id} className="flex items-center gap-2 py-0.5">
            <Badge tone="warn">{textOf(payload['action'])}</Badge>
            <Untrusted lines={1} text={textOf(payload['symbol'])} />
            <span className="ml-auto text-xs text-muted">
              <Time at={ts} as="ago" />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
