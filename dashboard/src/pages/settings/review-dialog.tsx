import { ArrowRight } from 'lucide-react'
import { api } from '../../api/client.ts'
import type { Payload } from '../../api/types.ts'
import { useAction } from '../../app/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Empty, Failure } from '../../ui/states.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import {
  bodyOf,
  type Difference,
  errorsAt,
  isFixed,
  needsRestart,
  REDACTED,
  textOfValue,
  useForm,
  variableOf,
} from './draft.ts'
import { type Setting, type SettingType, valueAt } from './settings.ts'

interface ReviewDialogProps {
  readonly onSaved: () => void
  readonly onClose: () => void
}

/** The changes before they are saved. */
export const ReviewDialog = ({ onSaved, onClose }: ReviewDialogProps) => {
  const { draft, schema, differences } = useForm()
  const save = useAction({
    send: (body: Payload, headers) => api.POST('/config', { body, headers }),
    done: ({ path }) => `Saved to ${path}`,
    after: onSaved,
    refreshes: ['config', 'portfolio', 'karma'],
    quiet: true,
  })
  // A replaced secret looks the same before and after.
  const secrets = [...draft.keys()].filter(
    (key) => key.endsWith('_token') && differences.every(({ setting }) => setting.key !== key),
  )
  const restarts = differences.filter(({ setting: { key } }) => needsRestart(schema, key))
  return (
    <Dialog
      title="Save these changes?"
      description={`They are written to ${schema.path} and recorded in the log.`}
      onClose={onClose}
    >
      <div className="grid gap-4">
        {differences.length === 0 && secrets.length === 0 ? (
          <Empty title="No changes">The entered values are already in effect.</Empty>
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
            All users, including you, must sign in again with the new token.
          </p>
        ) : null}
        {restarts.length === 0 ? (
          <p className="text-[13px] text-muted">All changes take effect immediately.</p>
        ) : (
          <p className="text-[13px] text-warn">Settings marked “restart” take effect after a restart.</p>
        )}
        {save.error === null ? null : <Failure error={save.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button look="primary" busy={save.isPending} onClick={() => save.run(bodyOf(draft))}>
            Save
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

const PRESETS = [
  ['conservative', 'No leverage, small positions, stops early. People count more than technical signals.'],
  ['balanced', 'The default: twice the equity at most, moderate limits.'],
  ['degen', 'Up to five times the equity, large positions, wide limits.'],
  ['custom', 'No preset: defaults and your own settings.'],
] as const

/** Weights and risk limits in one step. Settings of your own stay stronger. */
export const PresetSection = ({ setting }: { readonly setting: Setting }) => {
  const { configuration, schema, draft, differences, errors, enter } = useForm()
  const chosen = draft.get(setting.key)?.text ?? textOfValue(setting, valueAt(configuration, setting.key))
  const isByEnvironment = isFixed(schema, setting.key)
  const isOwn = PRESETS.every(([name]) => name !== chosen)
  return (
    <Panel title="Preset" actions={<span className="text-muted">Weights and risk limits in one step</span>}>
      <div className="grid gap-3">
        <fieldset className="grid gap-2 sm:grid-cols-2" disabled={isByEnvironment}>
          <legend className="sr-only">Preset</legend>
          {PRESETS.map(([name, text]) => (
            <label
              key={name}
              className={cx(
                'flex cursor-pointer gap-2.5 rounded-lg border p-3',
                chosen === name ? 'border-accent bg-accent-soft' : 'border-line hover:bg-raised',
              )}
            >
              <input
                type="radio"
                name="preset"
                className="mt-1 accent-(--accent)"
                checked={chosen === name}
                onChange={() => enter(setting, name)}
              />
              <span>
                <strong className="font-medium">{name}</strong>
                <span className="block text-xs text-muted">{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <TextField
          label="Your own preset"
          hint="The name of a file in config/presets, without .yaml"
          error={errorsAt(errors, setting.key)}
          value={isOwn ? chosen : ''}
          disabled={isByEnvironment}
          maxLength={64}
          className="max-w-72"
          onChange={(event) => enter(setting, event.target.value)}
        />
        <p className="text-xs text-muted">
          {isByEnvironment ? `Set by ${variableOf(setting.key)}` : 'Your own settings override the preset.'}
        </p>
        {draft.has(setting.key) && differences.length > 0 ? (
          <section className="grid gap-2">
            <h3 className="text-[13px] font-medium">What would change</h3>
            <ul className="grid gap-2 sm:grid-cols-2 xl:grid-cols-3">
              <Differences />
            </ul>
          </section>
        ) : null}
      </div>
    </Panel>
  )
}

/** Value before and after, per setting. */
const Differences = () =>
  useForm().differences.map((difference) => (
    <DifferenceRow key={difference.setting.key} difference={difference} />
  ))

const DifferenceRow = ({ difference: { setting, before, after } }: { readonly difference: Difference }) => {
  const { schema } = useForm()
  return (
    <li className="grid gap-1 rounded-md border border-line px-2.5 py-2 text-[13px]">
      <div className="flex flex-wrap items-center gap-2">
        <code className="break-all">{setting.key}</code>
        {needsRestart(schema, setting.key) ? <Badge tone="warn">restart</Badge> : null}
        {isFixed(schema, setting.key) ? <Badge tone="warn">set by environment</Badge> : null}
      </div>
      <div className="flex min-w-0 items-center gap-2">
        <span className="min-w-0 text-muted line-through">
          <Untrusted text={shownValue(setting.type, before)} />
        </span>
        <ArrowRight className="size-3.5 shrink-0 text-muted" aria-label="becomes" />
        <strong className="min-w-0 font-medium">
          <Untrusted text={shownValue(setting.type, after)} />
        </strong>
      </div>
    </li>
  )
}

/** A value as text. */
export const shownValue = (type: SettingType, value: unknown): string => {
  if (type === 'secret') return value === REDACTED ? 'set' : 'not set'
  if (type === 'maybe-flag' && value === null) return 'by mode'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = textOfValue({ type }, value)
  return text === '' ? 'empty' : text
}
