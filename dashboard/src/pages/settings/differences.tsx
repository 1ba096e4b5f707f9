import { ArrowRight } from 'lucide-react'
import { Badge } from '../../ui/badge.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { REDACTED, textOfValue, type Difference } from './draft.ts'
import { isFixed, needsRestart, useForm } from './form.ts'
import type { SettingType } from './settings.ts'

/** What would be in force instead of what, one line per setting. */
export const Differences = () =>
  useForm().differences.map((difference) => (
    <DifferenceRow key={difference.setting.key} difference={difference} />
  ))

const DifferenceRow = ({ difference: { setting, before, after } }: { readonly difference: Difference }) => {
  const { form } = useForm()
  return (
    <li className="grid gap-1 rounded-md border border-line px-2.5 py-2 text-[13px]">
      <div className="flex flex-wrap items-center gap-2">
        <code className="break-all">{setting.key}</code>
        {needsRestart(form, setting.key) ? <Badge tone="warn">restart</Badge> : null}
        {isFixed(form, setting.key) ? <Badge tone="warn">environment decides</Badge> : null}
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

/** A value as people read it. */
export const shownValue = (type: SettingType, value: unknown): string => {
  if (type === 'secret') return value === REDACTED ? 'set' : 'not set'
  if (type === 'maybe-flag' && value === null) return 'by mode'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = textOfValue({ type }, value)
  return text === '' ? 'empty' : text
}
