import { RotateCcw } from 'lucide-react'
import { useId } from 'react'
import { valueAt } from '../../api/configuration.ts'
import { Badge } from '../../ui/badge.tsx'
import { Control } from './control.tsx'
import { shownValue } from './differences.tsx'
import { faultsAt, isSame, REDACTED, textOfValue } from './draft.ts'
import { isFixed, needsRestart, useForm, variableOf, waitsForRestart } from './form.ts'
import type { Setting } from './settings.ts'

/** One setting: what it is, its value, and what is special about it. */
export const FieldRow = ({ setting }: { readonly setting: Setting }) => {
  const id = useId()
  const { configuration, form, draft, faults, enter, reset } = useForm()
  const { key, name, description, fallback } = setting
  const current = valueAt(configuration, key)
  const entry = draft.get(key)
  const isSecret = setting.type === 'secret'
  const isByEnvironment = isFixed(form, key)
  const fault = faultsAt(faults, key)
  const text = entry?.text ?? (isSecret ? '' : textOfValue(setting, current))
  const canReset = !isByEnvironment && entry?.value !== null && !isSame(entry?.value ?? current, fallback)
  return (
    <div className="grid gap-x-6 gap-y-1.5 border-b border-line px-3 py-2.5 last:border-0 md:grid-cols-2">
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <label htmlFor={id} className="text-[13px] font-medium">
            {name}
          </label>
          {entry === undefined ? null : <Badge tone="accent">changed</Badge>}
          <RestartBadge settingKey={key} />
          {isByEnvironment ? <Badge tone="warn">environment</Badge> : null}
        </div>
        <p className="text-xs text-muted">{description}</p>
        <code className="text-xs break-all text-muted">{key}</code>
      </div>
      <div className="grid min-w-0 content-start gap-1">
        <Control
          setting={setting}
          text={text}
          isDisabled={isByEnvironment}
          hasSecret={current === REDACTED}
          ids={{ id, 'aria-describedby': `${id}-note`, 'aria-invalid': fault !== undefined }}
          onText={(next) => enter(setting, next)}
        />
        <div id={`${id}-note`} className="flex flex-wrap items-center gap-x-2 text-xs text-muted">
          {fault === undefined ? null : <strong className="basis-full font-medium text-bad">{fault}</strong>}
          {isByEnvironment ? (
            <span>{variableOf(key)} decides; change it there</span>
          ) : (
            <Limits setting={setting} />
          )}
          {canReset ? (
            <button
              type="button"
              className="inline-flex items-center gap-1 rounded px-1 text-accent hover:underline"
              onClick={() => reset(setting)}
            >
              <RotateCcw className="size-3" aria-hidden />
              {isSecret ? 'Clear' : 'Default'}
              <span className="sr-only"> for {key}</span>
            </button>
          ) : null}
          {entry?.value === null ? <span className="text-accent">back to the default</span> : null}
        </div>
      </div>
    </div>
  )
}

const RestartBadge = ({ settingKey }: { readonly settingKey: string }) => {
  const { form } = useForm()
  if (!needsRestart(form, settingKey)) return null
  return waitsForRestart(form, settingKey) ? (
    <Badge tone="warn" title="Saved; counts when the service is started again">
      waits for a restart
    </Badge>
  ) : (
    <Badge title="Counts only after a restart">restart</Badge>
  )
}

const DEFAULT_CHARACTERS_MAX = 40

const Limits = ({ setting }: { readonly setting: Setting }) => {
  const { type, fallback, range } = setting
  if (type === 'secret') return null
  const text = shownValue(type, fallback)
  return (
    <span>
      {text.length > DEFAULT_CHARACTERS_MAX ? '' : `default ${text}`}
      {range === '' ? '' : ` · ${range}`}
    </span>
  )
}
