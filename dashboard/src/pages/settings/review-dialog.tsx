import type { Configuration, ConfigurationChange } from '../../api/log.ts'
import { useAction } from '../../app/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Empty, Failure } from '../../ui/states.tsx'
import { bodyOf } from './draft.ts'
import { Differences } from './differences.tsx'
import { needsRestart, useForm } from './form.ts'

interface ReviewDialogProps {
  readonly onSaved: () => void
  readonly onClose: () => void
}

/** What saving would change, before it does. */
export const ReviewDialog = ({ onSaved, onClose }: ReviewDialogProps) => {
  const { draft, form, differences } = useForm()
  const save = useAction<Configuration, ConfigurationChange>({
    request: (body) => ({ path: '/config', body }),
    done: ({ path }) => `Saved to ${path}`,
    after: onSaved,
    refreshes: ['config', 'portfolio', 'karma'],
    quiet: true,
  })
  // A secret that is replaced looks the same before and after.
  const secrets = [...draft.keys()].filter(
    (key) => key.endsWith('_token') && differences.every(({ setting }) => setting.key !== key),
  )
  const restarts = differences.filter(({ setting: { key } }) => needsRestart(form, key))
  return (
    <Dialog
      title="Save these changes?"
      description={`They are written to ${form.path} and recorded in the log.`}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {differences.length === 0 && secrets.length === 0 ? (
          <Empty title="Nothing would be different">What was entered is in force already.</Empty>
        ) : (
          <ul className="grid gap-2">
            <Differences />
            {secrets.map((key) => (
              <li key={key} className="rounded-md border border-line px-2.5 py-2 text-[13px]">
                <code>{key}</code>: {draft.get(key)?.value === null ? 'cleared' : 'replaced'}
              </li>
            ))}
          </ul>
        )}
        {draft.has('api.auth_token') ? (
          <p className="text-[13px] text-warn">
            Everybody, you included, has to sign in again with the new token.
          </p>
        ) : null}
        {restarts.length === 0 ? (
          <p className="text-[13px] text-muted">All of it counts at once.</p>
        ) : (
          <p className="text-[13px] text-warn">
            Restart the service for what is marked so. Until then the old values count.
          </p>
        )}
        {save.isError ? <Failure error={save.error} /> : null}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button look="primary" busy={save.isPending} onClick={() => save.mutate(bodyOf(draft))}>
            Save
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
