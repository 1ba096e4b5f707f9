import { useState, type SyntheticEvent } from 'react'
import { ApiProblem } from '../../api/client.ts'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, inputClass, TextField } from '../../ui/field.tsx'
import { titleOf } from '../../ui/states.tsx'

const DOMAINS = ['onchain', 'social', 'tradfi', 'technical', 'events', 'curator']

const SCHEDULES = [
  ['* * * * *', 'every minute'],
  ['*/5 * * * *', 'every 5 minutes'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 * * * *', 'every hour'],
] as const

/** `?form=register` */
export const RegisterDialog = () => {
  const [form, setForm] = useUrlState('form')
  if (form !== 'register') return null
  return (
    <Dialog
      title="Register a producer"
      description="Its address is asked for signals on its schedule; nothing is asked before the first run."
      open
      onClose={() => setForm('')}
    >
      <RegisterForm onDone={() => setForm('')} />
    </Dialog>
  )
}

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
  const faultOf = (member: keyof Draft): string | undefined => faultIn(action.error, member)
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Name"
        hint="Letters, digits, dots, underscores, colons and hyphens"
        fault={faultOf('name')}
        value={draft.name}
        onChange={change('name')}
        required
        maxLength={128}
        autoFocus
        autoComplete="off"
      />
      <Field label="Domain" hint="Its weight decides how much it counts" fault={faultOf('domain')}>
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
        fault={faultOf('endpoint')}
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
        fault={faultOf('schedule')}
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
      {action.error === null || isOnField(action.error) ? null : (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {titleOf(action.error)}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" look="primary" busy={action.isPending}>
          Register
        </Button>
      </div>
    </form>
  )
}

const isOnField = (error: Error): boolean =>
  error instanceof ApiProblem && (error.faults.length > 0 || error.code === 'producer.duplicate')

const faultIn = (error: Error | null, member: string): string | undefined => {
  if (!(error instanceof ApiProblem)) return undefined
  if (error.code === 'producer.duplicate' && member === 'name') return 'This name is taken'
  return error.faults.find(({ loc }) => loc.includes(member))?.msg
}
