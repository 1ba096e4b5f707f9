import type { ButtonHTMLAttributes, MouseEvent } from 'react'
import { cx } from './cx.ts'

export type ButtonLook = 'plain' | 'primary' | 'danger' | 'quiet'

const LOOKS: Readonly<Record<ButtonLook, string>> = {
  plain: 'border border-line bg-panel hover:bg-raised',
  primary: 'bg-accent text-on-accent hover:opacity-90',
  danger: 'bg-bad text-panel hover:opacity-90',
  quiet: 'text-muted hover:bg-raised hover:text-text',
}

/** Keeps a press from the form and the row around the button. */
const ignore = (event: MouseEvent): void => {
  event.preventDefault()
  event.stopPropagation()
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: ButtonLook
  readonly size?: 'small' | 'normal' | 'icon'
  /** True while a request is in progress. The button cannot be pressed then. */
  readonly busy?: boolean
}

export const Button = ({
  look = 'plain',
  size = 'normal',
  busy = false,
  onClick,
  className,
  ...rest
}: ButtonProps) => (
  <button
    type="button"
    {...rest}
    aria-busy={busy}
    // `disabled` would take the focus from a keyboard user.
    aria-disabled={busy || undefined}
    onClick={busy ? ignore : onClick}
    className={cx(
      'inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none',
      'disabled:cursor-not-allowed disabled:opacity-50 aria-busy:cursor-not-allowed aria-busy:opacity-50',
      size === 'small' && 'h-7 px-2 text-xs',
      size === 'normal' && 'h-9 px-3 text-sm',
      size === 'icon' && 'size-9',
      LOOKS[look],
      className,
    )}
  />
)
