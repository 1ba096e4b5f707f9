import { api } from '../../api/client.ts'
import { Form, formErrors, RegisterDialog, useDraft } from '../../app/forms.tsx'
import { useAction } from '../../app/use-action.ts'
import { OptionList, SelectField, TextField } from '../../ui/field.tsx'

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

const RegisterForm = ({ onDone }: { readonly onDone: () => void }) => {
  const { draft, input } = useDraft({ name: '', domain: 'onchain', endpoint: '', schedule: '*/15 * * * *' })
  const action = useAction({
    send: (_input: void, headers) => api.POST('/producers/register', { body: draft, headers }),
    done: ({ name }) => `${name} is registered`,
    after: onDone,
    refreshes: ['producers'],
    quiet: true,
  })
  const errors = formErrors(action.error, {
    code: 'producer.duplicate',
    member: 'name',
    text: 'This name is taken',
  })
  return (
    <Form
      submitLabel="Register"
      error={errors.rest}
      isBusy={action.isPending}
      onSubmit={action.run}
      onCancel={onDone}
    >
      <TextField
        label="Name"
        hint="Letters, digits, dots, underscores, colons and hyphens"
        {...input('name', errors)}
        required
        maxLength={128}
        autoFocus
        autoComplete="off"
      />
      <SelectField label="Domain" hint="Decides its weight" options={DOMAINS} {...input('domain', errors)} />
      <TextField
        label="Endpoint"
        hint="An http or https address; private addresses are refused"
        {...input('endpoint', errors)}
        placeholder="https://example.com/signals"
        inputMode="url"
        required
        maxLength={2048}
        autoComplete="off"
      />
      <TextField
        label="Schedule"
        hint="Minute, hour, day, month, weekday, in UTC"
        {...input('schedule', errors)}
        list="producer-schedules"
        required
        autoComplete="off"
      />
      <datalist id="producer-schedules">
        <OptionList options={SCHEDULES} />
      </datalist>
    </Form>
  )
}
