import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Contributor } from '../../api/types.ts'
import { Form, formErrors, useDraft } from '../../app/forms.tsx'
import { PageLink } from '../../app/page-link.tsx'
import { useAction } from '../../app/use-action.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
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
  const { draft, input } = useDraft({
    node_id: contributors[0]?.node_id ?? '',
    symbol: '',
    direction: 'bullish',
    conviction: '5',
    rationale: '',
  })
  // One key per form: a repeated submission is stored once.
  const [key] = useState(() => `dashboard-${Date.now()}-${Math.random().toString(36).slice(2)}`)
  const { node_id, symbol, direction, conviction, rationale } = draft
  const action = useAction({
    send: (_input: void, headers) =>
      api.POST('/signals/submit', {
        params: { header: { 'idempotency-key': key } },
        headers,
        body: {
          event_type: 'signal.curator.v1',
          node_id,
          payload: {
            symbol: symbol.trim().toUpperCase(),
            direction: direction as (typeof DIRECTIONS)[number],
            conviction: Number(conviction),
            ...(rationale.trim() === '' ? {} : { rationale: rationale.trim() }),
          },
        },
      }),
    done: () => 'Signal stored',
    after: ({ event_id }) => onDone(event_id),
    quiet: true,
  })
  const errors = formErrors(action.error)
  return (
    <Form
      submitLabel="Submit"
      error={errors.rest}
      isBusy={action.isPending}
      onSubmit={action.run}
      onCancel={onClose}
    >
      <SelectField
        label="Contributor"
        options={contributors.map((one) => [one.node_id, `${one.name} (${one.node_id})`] as const)}
        {...input('node_id', errors)}
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Symbol"
          required
          maxLength={32}
          autoComplete="off"
          placeholder="BTC"
          {...input('symbol', errors)}
        />
        <SelectField label="Direction" options={DIRECTIONS} {...input('direction', errors)} />
      </div>
      <TextField
        label="Conviction"
        hint="0 (no idea) to 10 (certain)"
        type="number"
        required
        min={0}
        max={10}
        step={0.1}
        {...input('conviction', errors)}
      />
      <TextArea
        label="Rationale"
        hint="Public and permanent"
        rows={4}
        maxLength={20_000}
        {...input('rationale', errors)}
      />
    </Form>
  )
}
