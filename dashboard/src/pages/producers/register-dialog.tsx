import { useState, type SyntheticEvent } from 'react'
import { fieldFaults, FormEnd } from '../../app/form-end.tsx'
import { RegisterDialog } from '../../app/register-dialog.tsx'
import { useAction } from '../../app/use-action.ts'
import { Field, inputClass, TextField } from '../../ui/field.tsx'

const DOMAINS = ['onchain', 'social', 'tradfi', 'technical', 'events', 'curator']

const SCHEDULES = [
  ['* * * * *', 'every minute'],
  ['*/5 * * * *', 'every 5 minutes'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 * * * *', 'every hour'],
] as const

export const RegisterProducer = () => (
  <RegisterDialog
    title="Register a producer"
    description="Its address is asked for signals on its schedule; nothing is asked before the first run."
  >
    {(onDone) => <RegisterForm onDone={onDone} />}
  </RegisterDialog>
)

interface Draft {
  readonly name: string
  readonly domain: string
  readonly endpoint: string
  readonly schedule: string
}

const RegisterForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [draft, setDraft] = useState<Draft>({
    name: '',
    domain: 'onchain',
    endpoint: '',
    schedule: '*/15 * * * *',
  })
  const action = useAction<Draft, { readonly name: string }>({
    request: (body) => ({ path: '/producers/register', body }),
    done: ({ name }) => `${name} is registered`,
    after: onDone,
    refreshes: ['producers'],
    quiet: true,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    action.mutate(draft)
  }
  const change = (member: keyof Draft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [member]: event.target.value })
  const faults = fieldFaults(action.error, {
    code: 'producer.duplicate',
    member: 'name',
    text: 'This name is taken',
  })
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Name"
        hint="Letters, digits, dots, underscores, colons and hyphens"
        fault={faults.of('name')}
        value={draft.name}
        onChange={change('name')}
        required
        maxLength={128}
        autoFocus
        autoComplete="off"
      />
      <Field label="Domain" hint="Its weight decides how much it counts" fault={faults.of('domain')}>
        {(ids) => (
          <select {...ids} value={draft.domain} onChange={change('domain')} className={inputClass}>
            {DOMAINS.map((domain) => (
              <option key={domain}>{domain}</option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label="Endpoint"
        hint="An http or https address; private addresses are refused when it is asked"
        fault={faults.of('endpoint')}
        value={draft.endpoint}
        onChange={change('endpoint')}
        placeholder="https://example.com/signals"
        inputMode="url"
        required
        maxLength={2048}
        autoComplete="off"
      />
      <TextField
        label="Schedule"
        hint="Minute, hour, day, month, weekday, in UTC"
        fault={faults.of('schedule')}
        value={draft.schedule}
        onChange={change('schedule')}
        list="producer-schedules"
        required
        autoComplete="off"
      />
      <datalist id="producer-schedules">
        {SCHEDULES.map(([cron, words]) => (
          <option key={cron} value={cron}>
            {words}
          </option>
        ))}
      </datalist>
      <FormEnd submitLabel="Register" fault={faults.rest} isBusy={action.isPending} onCancel={onDone} />
    </form>
  )
}
