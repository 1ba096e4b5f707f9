import { type SyntheticEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { FormEnd, formErrors, RegisterDialog } from '../../app/forms.tsx'
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
  <RegisterDialog title="Register a producer" description="The service polls its endpoint on its schedule.">
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
  const action = useAction({
    send: (body: Draft, headers) => api.POST('/producers/register', { body, headers }),
    done: ({ name }) => `${name} is registered`,
    after: onDone,
    refreshes: ['producers'],
    quiet: true,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    action.run(draft)
  }
  const change = (member: keyof Draft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [member]: event.target.value })
  const errors = formErrors(action.error, {
    code: 'producer.duplicate',
    member: 'name',
    text: 'This name is taken',
  })
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Name"
        hint="Letters, digits, dots, underscores, colons and hyphens"
        error={errors.of('name')}
        value={draft.name}
        onChange={change('name')}
        required
        maxLength={128}
        autoFocus
        autoComplete="off"
      />
      <Field label="Domain" hint="Decides its weight" error={errors.of('domain')}>
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
        hint="An http or https address; private addresses are refused"
        error={errors.of('endpoint')}
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
        error={errors.of('schedule')}
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
      <FormEnd submitLabel="Register" error={errors.rest} isBusy={action.isPending} onCancel={onDone} />
    </form>
  )
}
