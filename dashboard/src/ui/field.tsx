import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react'
import { cx } from './cx.ts'

export const inputClass =
  'h-9 w-full min-w-0 rounded-md border border-line bg-panel px-2.5 text-sm placeholder:text-muted aria-invalid:border-bad'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** Error of the entered value. */
  readonly error?: string | undefined
  readonly children: (ids: {
    readonly id: string
    readonly 'aria-describedby': string | undefined
    readonly 'aria-invalid': boolean
  }) => ReactNode
}

/** A labelled input of any kind; hint and error are announced to screen readers. */
const Field = ({ label, hint, error, children }: FieldProps) => {
  const id = useId()
  const hasNote = hint !== undefined || error !== undefined
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
      <label htmlFor={id} className="text-[13px] font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': hasNote ? `${id}-note` : undefined,
        'aria-invalid': error !== undefined,
      })}
      {hasNote ? (
        <div id={`${id}-note`} className={cx('text-xs', error === undefined ? 'text-muted' : 'text-bad')}>
          {error ?? hint}
        </div>
      ) : null}
    </div>
  )
}

type TextFieldProps = Omit<FieldProps, 'children'> & InputHTMLAttributes<HTMLInputElement>

export const TextField = ({ label, hint, error, className, ...input }: TextFieldProps) => (
  <Field label={label} hint={hint} error={error}>
    {(ids) => <input {...input} {...ids} className={cx(inputClass, className)} />}
  </Field>
)

type TextAreaProps = Omit<FieldProps, 'children'> & TextareaHTMLAttributes<HTMLTextAreaElement>

export const TextArea = ({ label, hint, error, className, ...area }: TextAreaProps) => (
  <Field label={label} hint={hint} error={error}>
    {(ids) => <textarea {...area} {...ids} className={cx(inputClass, 'h-auto py-2', className)} />}
  </Field>
)

/** A value, and its text if that differs. */
type Options = readonly (string | readonly [value: string, text: string])[]

interface SelectFieldProps extends Omit<FieldProps, 'children'>, SelectHTMLAttributes<HTMLSelectElement> {
  readonly options: Options
}

export const SelectField = ({ label, hint, error, options, ...select }: SelectFieldProps) => (
  <Field label={label} hint={hint} error={error}>
    {(ids) => (
      <select {...select} {...ids} className={inputClass}>
        <OptionList options={options} />
      </select>
    )}
  </Field>
)

export const OptionList = ({ options }: { readonly options: Options }) =>
  options.map((option) => {
    const [value, text] = typeof option === 'string' ? [option, option] : option
    return (
      <option key={value} value={value}>
        {text}
      </option>
    )
  })

interface ChoiceProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange' | 'value'> {
  readonly label: string
  readonly value: string
  readonly choices: Options
  readonly onChoose: (value: string) => void
}

/** A compact choice for the head of a panel. Its label is for screen readers only. */
export const Choice = ({ label, value, choices, onChoose, ...select }: ChoiceProps) => (
  <select
    {...select}
    aria-label={label}
    value={value}
    onChange={(event) => onChoose(event.target.value)}
    className="h-7 rounded-md border border-line bg-panel px-1.5 text-xs"
  >
    <OptionList options={choices} />
  </select>
)
