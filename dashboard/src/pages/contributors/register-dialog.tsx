import { type SyntheticEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import type { Payload } from '../../api/types.ts'
import { FormEnd, formErrors, RegisterDialog } from '../../app/forms.tsx'
import { useAction } from '../../app/use-action.ts'
import { Field, inputClass, TextField } from '../../ui/field.tsx'

const ROLES = ['curator', 'agent', 'operator', 'tester']

export const RegisterContributor = () => (
  <RegisterDialog
    title="Register a contributor"
    description="Then it can submit signals, and its calls are scored."
  >
    {(onDone) => <RegisterForm onDone={onDone} />}
  </RegisterDialog>
)

interface Draft {
  readonly node_id: string
  readonly name: string
  readonly role: string
  /** JSON, or nothing. */
  readonly metadata: string
}

const RegisterForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [draft, setDraft] = useState<Draft>({ node_id: '', name: '', role: 'curator', metadata: '' })
  const metadata = objectIn(draft.metadata)
  const action = useAction({
    send: (body: Omit<Draft, 'metadata'> & { readonly metadata: Payload }, headers) =>
      api.POST('/contributors/register', { body, headers }),
    done: ({ name }) => `${name} is registered`,
    after: onDone,
    refreshes: ['contributors', 'scores'],
    quiet: true,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (metadata === null) return
    action.run({ ...draft, metadata })
  }
  const change = (member: keyof Draft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [member]: event.target.value })
  const errors = formErrors(action.error, {
    code: 'contributor.duplicate',
    member: 'node_id',
    text: 'This node id is taken',
  })
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Node id"
        hint="Used in submissions; unique and permanent"
        error={errors.of('node_id')}
        value={draft.node_id}
        onChange={change('node_id')}
        required
        maxLength={128}
        autoFocus
        autoComplete="off"
      />
      <TextField
        label="Name"
        hint="Display name"
        error={errors.of('name')}
        value={draft.name}
        onChange={change('name')}
        required
        maxLength={128}
        autoComplete="off"
      />
      <TextField
        label="Role"
        hint="curator, agent, operator, tester or any other"
        error={errors.of('role')}
        value={draft.role}
        onChange={change('role')}
        list="contributor-roles"
        required
        maxLength={64}
      />
      <datalist id="contributor-roles">
        {ROLES.map((role) => (
          <option key={role} value={role} />
        ))}
      </datalist>
      <Field
        label="Metadata"
        hint="Optional JSON object: links, an attestation"
        error={metadata === null ? 'This is not a JSON object' : errors.of('metadata')}
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellCheck={false}
            value={draft.metadata}
            onChange={change('metadata')}
            className={`${inputClass} h-auto py-2 font-mono text-xs`}
          />
        )}
      </Field>
      <FormEnd submitLabel="Register" error={errors.rest} isBusy={action.isPending} onCancel={onDone} />
    </form>
  )
}

/** Null for what is no JSON object. */
const objectIn = (text: string): Readonly<Record<string, unknown>> | null => {
  if (text.trim() === '') return {}
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  } catch {
    // Half-typed text is no object yet; the field says so.
    return null
  }
}
