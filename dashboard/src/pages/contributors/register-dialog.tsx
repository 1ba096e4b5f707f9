import { useState, type SyntheticEvent } from 'react'
import { ApiProblem } from '../../api/client.ts'
import type { Contributor } from '../../api/people.ts'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, inputClass, TextField } from '../../ui/field.tsx'
import { titleOf } from '../../ui/states.tsx'

const ROLES = ['curator', 'agent', 'operator', 'tester']

/** `?form=register` */
export const RegisterDialog = () => {
  const [form, setForm] = useUrlState('form')
  if (form !== 'register') return null
  return (
    <Dialog
      title="Register a contributor"
      description="Then it can submit signals, and its calls are scored."
      open
      onClose={() => setForm('')}
    >
      <RegisterForm onDone={() => setForm('')} />
    </Dialog>
  )
}

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
  const faultOf = (member: keyof Draft): string | undefined => faultIn(action.error, member)
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Node id"
        hint="How it names itself when it submits; unique, and not changed later"
        fault={faultOf('node_id')}
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
        fault={faultOf('name')}
        value={draft.name}
        onChange={change('name')}
        required
        maxLength={128}
        autoComplete="off"
      />
      <TextField
        label="Role"
        hint="curator, agent, operator, tester or another word"
        fault={faultOf('role')}
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
        fault={metadata === null ? 'This is not a JSON object' : faultOf('metadata')}
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
      {action.error === null || hasFaults(action.error) ? null : (
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

const hasFaults = (error: Error): boolean =>
  error instanceof ApiProblem && (error.faults.length > 0 || error.code === 'contributor.duplicate')

const faultIn = (error: Error | null, member: string): string | undefined => {
  if (!(error instanceof ApiProblem)) return undefined
  if (error.code === 'contributor.duplicate' && member === 'node_id') return 'This node id is taken'
  return error.faults.find(({ loc }) => loc.includes(member))?.msg
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
