import { RotateCcw } from 'lucide-react'
import { useId } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { inputClass, OptionList } from '../../ui/field.tsx'
import { formatDuration, formatPercent, formatUsd } from '../../ui/format.ts'
import {
  errorsAt,
  isFixed,
  isSame,
  needsRestart,
  REDACTED,
  runningValues,
  textOfValue,
  useForm,
  variableOf,
  waitsForRestart,
} from './draft.ts'
import { shownValue } from './review-dialog.tsx'
import { type Setting, valueAt } from './settings.ts'

/** One setting: what it is, its value, and what is special about it. */
export const FieldRow = ({ setting }: { readonly setting: Setting }) => {
  const id = useId()
  const { configuration, schema, draft, errors, enter, reset } = useForm()
  const { key, name, description, fallback } = setting
  const current = valueAt(configuration, key)
  const entry = draft.get(key)
  const isSecret = setting.type === 'secret'
  const isByEnvironment = isFixed(schema, key)
  const error = errorsAt(errors, key)
  const running = runningValues(schema, key)
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
          ids={{ id, 'aria-describedby': `${id}-note`, 'aria-invalid': error !== undefined }}
          onText={(next) => enter(setting, next)}
        />
        <div id={`${id}-note`} className="flex flex-wrap items-center gap-x-2 text-xs text-muted">
          {error === undefined ? null : <strong className="basis-full font-medium text-bad">{error}</strong>}
          {running.map(([part, value]) => (
            <span key={part} className="text-warn">
              running: {part === key ? '' : `${part} `}
              {part === key ? shownValue(setting.type, value) : JSON.stringify(value)}
            </span>
          ))}
          {isByEnvironment ? <span>set by {variableOf(key)}</span> : <Limits setting={setting} />}
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
  const { schema } = useForm()
  if (!needsRestart(schema, settingKey)) return null
  return waitsForRestart(schema, settingKey) ? (
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

interface ControlProps {
  readonly setting: Setting
  readonly text: string
  readonly isDisabled: boolean
  /** A secret is never shown: only whether there is one. */
  readonly hasSecret: boolean
  readonly ids: {
    readonly id: string
    readonly 'aria-describedby': string
    readonly 'aria-invalid': boolean
  }
  readonly onText: (text: string) => void
}

/** The input of a setting, by its type. */
const Control = (props: ControlProps) => {
  const { setting, text, isDisabled, ids, onText } = props
  switch (setting.type) {
    case 'flag':
      return (
        <Select
          {...props}
          options={[
            ['true', 'yes'],
            ['false', 'no'],
          ]}
        />
      )
    case 'maybe-flag':
      return (
        <Select
          {...props}
          options={[
            ['', 'by mode'],
            ['true', 'yes'],
            ['false', 'no'],
          ]}
        />
      )
    case 'choice':
      return <Select {...props} options={setting.choices.map((choice) => [choice, choice] as const)} />
    case 'json':
      return (
        <textarea
          {...ids}
          rows={8}
          spellCheck={false}
          value={text}
          disabled={isDisabled}
          className={cx(inputClass, 'h-auto py-2 font-mono text-xs')}
          onChange={(event) => onText(event.target.value)}
        />
      )
    default:
      return <Line {...props} />
  }
}

const Line = ({ setting, text, isDisabled, hasSecret, ids, onText }: ControlProps) => {
  const isNumber = setting.type === 'number'
  const meaning = isNumber ? meaningOf(setting.key, text) : ''
  return (
    <div className="flex items-center gap-2">
      <input
        {...ids}
        type={setting.type === 'secret' ? 'password' : 'text'}
        autoComplete={setting.type === 'secret' ? 'new-password' : 'off'}
        spellCheck={false}
        inputMode={isNumber ? 'decimal' : undefined}
        placeholder={placeholderOf(setting, hasSecret)}
        value={text}
        disabled={isDisabled}
        className={cx(inputClass, isNumber && 'max-w-36 text-right', 'disabled:opacity-60')}
        onChange={(event) => onText(event.target.value)}
      />
      {meaning === '' ? null : <span className="text-xs whitespace-nowrap text-muted">{meaning}</span>}
    </div>
  )
}

const placeholderOf = ({ type, fallback }: Setting, hasSecret: boolean): string | undefined => {
  if (type === 'secret') return hasSecret ? 'set; type to replace it' : 'not set'
  if (type === 'number') return String(fallback)
  return type === 'texts' ? 'none; separate by commas' : undefined
}

const Select = ({
  text,
  isDisabled,
  ids,
  onText,
  options,
}: ControlProps & { readonly options: readonly (readonly [value: string, label: string])[] }) => (
  <select
    {...ids}
    value={text}
    disabled={isDisabled}
    className={cx(inputClass, 'max-w-56 disabled:opacity-60')}
    onChange={(event) => onText(event.target.value)}
  >
    <OptionList options={options} />
  </select>
)

const HOUR_MS = 3_600_000

/** A number with its unit, as text. The unit is part of the key. */
const meaningOf = (key: string, text: string): string => {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return ''
  const unit = key.slice(key.lastIndexOf('_') + 1)
  switch (unit) {
    case 'pct':
      return formatPercent(value)
    case 'usd':
      return formatUsd(value)
    case 'seconds':
      return formatDuration(value * 1000)
    case 'hours':
      return formatDuration(value * HOUR_MS)
    case 'days':
      return value === 1 ? 'day' : 'days'
    case 'bps':
      return formatPercent(value / 10_000)
    default:
      return key === 'karma.percentage' ? formatPercent(value) : ''
  }
}
