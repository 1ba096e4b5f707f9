import { cx } from '../../ui/cx.ts'
import { inputClass } from '../../ui/field.tsx'
import { formatDuration, formatPercent, formatUsd } from '../../ui/format.ts'
import type { Setting } from './settings.ts'

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
export const Control = (props: ControlProps) => {
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
    {options.map(([value, label]) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </select>
)

const HOUR_MS = 3_600_000

/** A number with its unit, as people say it. The unit stands in the key. */
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
