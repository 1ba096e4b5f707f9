import type { KeyboardEvent } from 'react'

/** On the button of each row; the list around them takes the keys. */
export const ROW = { 'data-row': '' } as const

/** Up and down go from row to row, so that nobody has to press Tab a hundred times. */
export const moveBetweenRows = (event: KeyboardEvent<HTMLElement>): void => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || !(event.target instanceof HTMLElement)) return
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')]
  const current = rows.indexOf(event.target)
  // The list itself has the focus: down goes to its first row.
  const next = current === -1 && step === 1 ? rows[0] : rows[current + step]
  if (next === undefined || (current === -1 && event.target !== event.currentTarget)) return
  event.preventDefault()
  next.focus()
}
