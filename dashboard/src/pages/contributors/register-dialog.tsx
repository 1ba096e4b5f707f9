import { api } from '../../api/client.ts'
import type { Payload } from '../../api/types.ts'
import { Form, formErrors, RegisterDialog, useDraft } from '../../app/forms.tsx'
import { useAction } from '../../app/use-action.ts'
import { OptionList, TextArea, TextField } from '../../ui/field.tsx'

const ROLES = ['curator', 'agent', 'operator', 'tester']

export const RegisterContributor = () => (
  <RegisterDialog
    title="Register a contributor"
    description="Then it can submit signals, and its calls are scored."
  >
    {(onDone) => <RegisterForm onDone={onDone} />}
  </RegisterDialog>
)

const RegisterForm = ({ onDone }: { readonly onDone: () => void }) => {
  const { draft, input } = useDraft({ node_id: '', name: '', role: 'curator', metadata: '' })
  const metadata = objectIn(draft.metadata)
  const action = useAction({
    send: (_input: void, headers) =>
      api.POST('/contributors/register', { body: { ...draft, metadata: metadata ?? {} }, headers }),
    done: ({ name }) => `${name} is registered`,
    after: onDone,
    refreshes: ['contributors', 'scores'],
    quiet: true,
  })
  const errors = formErrors(action.error, {
    code: 'contributor.duplicate',
    member: 'node_id',
    text: 'This node id is taken',
  })
  return (
    <Form
      submitLabel="Register"
      error={errors.rest}
      isBusy={action.isPending}
      isReady={metadata !== null}
      onSubmit={action.run}
      onCancel={onDone}
    >
      <TextField
        label="Node id"
        hint="Used in submissions; unique and permanent"
        {...input('node_id', errors)}
        required
        maxLength={128}
        autoFocus
        autoComplete="off"
      />
      <TextField
        label="Name"
        hint="Display name"
        {...input('name', errors)}
        required
        maxLength={128}
        autoComplete="off"
      />
      <TextField
        label="Role"
        hint="curator, agent, operator, tester or any other"
        {...input('role', errors)}
        list="contributor-roles"
        required
        maxLength={64}
      />
      <datalist id="contributor-roles">
        <OptionList options={ROLES} />
      </datalist>
      <TextArea
        label="Metadata"
        hint="Optional JSON object: links, an attestation"
        rows={3}
        spellCheck={false}
        className="font-mono text-xs"
        {...input('metadata', errors)}
        {...(metadata === null ? { error: 'This is not a JSON object' } : {})}
      />
    </Form>
  )
}

/** Null for what is no JSON object. */
const objectIn = (text: string): Payload | null => {
  if (text.trim() === '') return {}
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Payload) : null
  } catch {
    // Half-typed text is no object yet; the field says so.
    return null
  }
}
