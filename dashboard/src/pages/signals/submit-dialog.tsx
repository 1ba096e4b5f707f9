import { useQuery } from '@tanstack/react-query'
import { type SyntheticEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Contributor } from '../../api/types.ts'
import { FormEnd, formErrors } from '../../app/forms.tsx'
import { PageLink } from '../../app/page-link.tsx'
import { useAction } from '../../app/use-action.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, inputClass, TextField } from '../../ui/field.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'

/** A signal in the name of a contributor. */
export const SubmitDialog = ({
  onClose,
  onDone,
}: {
  readonly onClose: () => void
  readonly onDone: (signalId: string) => void
}) => {
  const query = useQuery(queries.contributors())
  return (
    <Dialog
      title="Submit a signal"
      description="Stored permanently, attributed to its contributor, and used in the next cycle."
      onClose={onClose}
    >
      <QueryContent query={query} what="contributors">
        {(contributors) =>
          contributors.length === 0 ? (
            <Empty title="No contributors yet">
              <PageLink to="/contributors">Register a contributor</PageLink> first: every signal is attributed
              to one.
            </Empty>
          ) : (
            <SubmitForm contributors={contributors} onClose={onClose} onDone={onDone} />
          )
        }
      </QueryContent>
    </Dialog>
  )
}

const DIRECTIONS = ['bullish', 'bearish', 'neutral'] as const

interface SubmitFormProps {
  readonly contributors: readonly Contributor[]
  readonly onClose: () => void
  readonly onDone: (signalId: string) => void
}

const SubmitForm = ({ contributors, onClose, onDone }: SubmitFormProps) => {
  const [nodeId, setNodeId] = useState(contributors[0]?.node_id ?? '')
  const [symbol, setSymbol] = useState('')
  const [direction, setDirection] = useState<(typeof DIRECTIONS)[number]>('bullish')
  const [conviction, setConviction] = useState('5')
  const [rationale, setRationale] = useState('')
  // One key per form: a repeated submission is stored once.
  const [key] = useState(() => `dashboard-${Date.now()}-${Math.random().toString(36).slice(2)}`)
  const action = useAction({
    send: (_input: void, headers) =>
      api.POST('/signals/submit', {
        params: { header: { 'idempotency-key': key } },
        headers,
        body: {
          event_type: 'signal.curator.v1',
          node_id: nodeId,
          payload: {
            symbol: symbol.trim().toUpperCase(),
            direction,
            conviction: Number(conviction),
            ...(rationale.trim() === '' ? {} : { rationale: rationale.trim() }),
          },
        },
      }),
    done: () => 'Signal stored',
    after: ({ event_id }) => onDone(event_id),
    quiet: true,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    action.run()
  }
  const errors = formErrors(action.error)
  return (
    <form className="grid gap-3" onSubmit={submit}>
      <Field label="Contributor" error={errors.of('node_id')}>
        {(ids) => (
          <select
            {...ids}
            className={inputClass}
            value={nodeId}
            onChange={(event) => setNodeId(event.target.value)}
          >
            {contributors.map(({ id, node_id, name }) => (
              <option key={id} value={node_id}>
                {name} ({node_id})
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Symbol"
          required
          maxLength={32}
          autoComplete="off"
          placeholder="BTC"
          value={symbol}
          error={errors.of('symbol')}
          onChange={(event) => setSymbol(event.target.value)}
        />
        <Field label="Direction" error={errors.of('direction')}>
          {(ids) => (
            <select
              {...ids}
              className={inputClass}
              value={direction}
              onChange={(event) => setDirection(event.target.value as typeof direction)}
            >
              {DIRECTIONS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <TextField
        label="Conviction"
        hint="0 (no idea) to 10 (certain)"
        type="number"
        required
        min={0}
        max={10}
        step={0.1}
        value={conviction}
        error={errors.of('conviction')}
        onChange={(event) => setConviction(event.target.value)}
      />
      <Field label="Rationale" hint="Public and permanent" error={errors.of('rationale')}>
        {(ids) => (
          <textarea
            {...ids}
            rows={4}
            maxLength={20_000}
            className={`${inputClass} h-auto py-2`}
            value={rationale}
            onChange={(event) => setRationale(event.target.value)}
          />
        )}
      </Field>
      <FormEnd submitLabel="Submit" error={errors.rest} isBusy={action.isPending} onCancel={onClose} />
    </form>
  )
}
