import { useState, type SyntheticEvent } from 'react'
import type { Contributor } from '../../api/people.ts'
import { fieldFaults, FormEnd } from '../../app/form-end.tsx'
import { RegisterDialog } from '../../app/register-dialog.tsx'
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
  const action = useAction<unknown, Contributor>({
    request: (body) => ({ path: '/contributors/register', body }),
    done: ({ name }) => `${name} is registered`,
    after: onDone,
    refreshes: ['contributors', 'scores'],
    quiet: true,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (metadata === null) return
    action.mutate({ ...draft, metadata })
  }
  const change = (member: keyof Draft) => (event: { target: { value: string } }) =>
    setDraft({ ...draft, [member]: event.target.value })
  const faults = fieldFaults(action.error, {
    code: 'contributor.duplicate',
    member: 'node_id',
    text: 'This node id is taken',
  })
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Node id"
        hint="How it names itself when it submits; unique, and not changed later"
        fault={faults.of('node_id')}
        value={draft.node_id}
        onChange={change('node_id')}
        required
        maxLength={128}
        autoFocus
        autoComplete="off"
      />
      <TextField
        label="Name"
        hint="As people see it"
        fault={faults.of('name')}
        value={draft.name}
        onChange={change('name')}
        required
        maxLength={128}
        autoComplete="off"
      />
      <TextField
        label="Role"
        hint="curator, agent, operator, tester or another word"
        fault={faults.of('role')}
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
        hint="A JSON object, if you like: links, an attestation"
        fault={metadata === null ? 'This is not a JSON object' : faults.of('metadata')}
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
      <FormEnd submitLabel="Register" fault={faults.rest} isBusy={action.isPending} onCancel={onDone} />
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
