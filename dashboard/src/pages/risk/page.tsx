import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { type SyntheticEvent, useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { EventItem } from '../../api/types.ts'
import { KillSwitchLevels, LEVELS } from '../../app/kill-switch.tsx'
import type { OperatorHeaders } from '../../app/prompts.tsx'
import { useAction } from '../../app/use-action.ts'
import { useEventList } from '../../live/live.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { inputClass } from '../../ui/field.tsx'
import { formatReason, textOf } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ApprovalsPanel } from './approvals-panel.tsx'
import { LimitsPanel } from './limits-panel.tsx'
import { LivePanel } from './live-panel.tsx'
import { OrdersPanel } from './orders-panel.tsx'

/** Limits, approvals, orders, kill switch, live trading and blocked symbols. */
export const Page = () => {
  const { data: waiting = [] } = useQuery(queries.intents('awaiting_approval'))
  const hasApprovals = waiting.length > 0
  return (
    <div className="grid gap-3 lg:grid-cols-12">
      <div className="grid min-w-0 content-start gap-3 lg:col-span-8">
        {/* Approvals expire, so they come first. */}
        {hasApprovals ? <ApprovalsPanel /> : null}
        <LimitsPanel />
        {hasApprovals ? null : <ApprovalsPanel />}
        <OrdersPanel />
      </div>
      <div className="grid min-w-0 content-start gap-3 lg:col-span-4">
        <KillSwitchPanel />
        <LivePanel />
        <HistoryPanel />
        <BlacklistPanel />
      </div>
    </div>
  )
}

const KillSwitchPanel = () => {
  const query = useQuery(queries.killSwitch())
  return (
    <QueryPanel title="Kill switch" query={query}>
      {() => (
        <div className="grid gap-3">
          <KillSwitchLevels />
          <p className="text-xs text-muted">
            Raised automatically when a limit is reached, lowered only by an operator. It survives restarts.
          </p>
        </div>
      )}
    </QueryPanel>
  )
}

const CHANGES_MAX = 50

/** Every change of the kill switch, automatic or by an operator. */
const HistoryPanel = () => {
  const { query, events: changes } = useEventList({ type: 'system.kill_switch', limit: CHANGES_MAX })
  return (
    <QueryPanel title="Kill switch history" flush query={query}>
      {() =>
        changes.length === 0 ? (
          <Empty title="No changes yet">Every change is listed here with its reason.</Empty>
        ) : (
          <ol className="max-h-96 overflow-y-auto" tabIndex={0} aria-label="Kill switch changes">
            {changes.map((change) => (
              <LevelChange key={change.id} change={change} />
            ))}
          </ol>
        )
      }
    </QueryPanel>
  )
}

const TONES: readonly Tone[] = ['good', 'warn', 'bad', 'bad']

const LevelChange = ({ change: { ts, payload } }: { readonly change: EventItem }) => {
  const level = Number(payload['level'])
  const before = Number(payload['prev_level'])
  const by = payload['triggered_by'] ?? payload['reset_by']
  return (
    <li className="grid gap-0.5 border-b border-line px-3 py-2 text-[13px] last:border-0">
      <div className="flex flex-wrap items-center justify-between gap-x-2">
        <span className="flex min-w-0 items-center gap-2">
          <Badge tone={TONES[level] ?? 'neutral'}>
            {before} → {level} {LEVELS[level]?.name}
          </Badge>
          <span className="min-w-0 text-xs text-muted">
            {by === 'risk_monitor' ? (
              'automatic'
            ) : (
              <Untrusted lines={1} text={`by ${textOf(by, 'unknown')}`} />
            )}
          </span>
        </span>
        <span className="text-xs text-muted">
          <Time at={ts} />
        </span>
      </div>
      <Untrusted text={formatReason(textOf(payload['reason']))} />
    </li>
  )
}

const KEY = 'execution.dcg_symbols'
const VIOLATIONS_MAX = 20

/** Symbols that may not be entered, and trades refused because of it. */
const BlacklistPanel = () => {
  const query = useQuery(queries.config())
  return (
    <QueryPanel title="Blocked symbols (DCG)" query={query}>
      {(configuration) => (
        <div className="grid gap-3">
          <Symbols symbols={configuration.execution.dcg_symbols} />
          <Violations />
        </div>
      )}
    </QueryPanel>
  )
}

/**
 * Changes the list of symbols. The list is replaced as a whole, so it is read first: symbols that another operator
 * blocked a moment ago stay blocked.
 */
const changeSymbols = async (
  change: (listed: readonly string[]) => readonly string[],
  headers: OperatorHeaders,
) => {
  const { execution } = await dataOf(api.GET('/config'))
  return api.POST('/config', { body: { execution: { dcg_symbols: change(execution.dcg_symbols) } }, headers })
}

const Symbols = ({ symbols }: { readonly symbols: readonly string[] }) => {
  const { data: schema } = useQuery(queries.configSchema())
  const isFixed = schema?.set_by_environment.includes(KEY) === true
  const remove = useAction({
    send: (symbol: string, headers) =>
      changeSymbols((listed) => listed.filter((one) => one !== symbol), headers),
    confirms: (symbol) => ({
      title: `Allow ${symbol} again?`,
      text: 'The brain may open positions in it from its next cycle on.',
      confirmLabel: `Allow ${symbol}`,
    }),
    done: () => 'Symbol allowed again',
    refreshes: ['config'],
  })
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
                disabled={isFixed || remove.isPending}
                className="grid size-7 shrink-0 place-items-center text-muted hover:text-text disabled:opacity-40"
                onClick={() => remove.run(symbol)}
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
        <AddSymbol symbols={symbols} />
      )}
    </>
  )
}

const symbolIn = (text: string): string => text.trim().toUpperCase()

const AddSymbol = ({ symbols }: { readonly symbols: readonly string[] }) => {
  const [text, setText] = useState('')
  const add = useAction({
    send: (added: string, headers) => changeSymbols((listed) => [...new Set([...listed, added])], headers),
    done: () => 'Symbol blocked',
    // Not before: after an error it can be sent again.
    after: (_, added) => setText((present) => (symbolIn(present) === added ? '' : present)),
    refreshes: ['config'],
  })
  const symbol = symbolIn(text)
  const isKnown = symbols.some((one) => symbolIn(one) === symbol)
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (symbol === '' || isKnown) return
    add.run(symbol)
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
      <Button type="submit" busy={add.isPending} disabled={symbol === '' || isKnown}>
        Block
      </Button>
    </form>
  )
}

const Violations = () => {
  const { events: violations } = useEventList({ type: 'system.dcg_violation', limit: VIOLATIONS_MAX })
  if (violations.length === 0) return <p className="text-xs text-muted">No trades refused yet.</p>
  return (
    <div className="grid gap-1">
      <h3 className="text-xs font-medium text-muted">Refused trades</h3>
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
