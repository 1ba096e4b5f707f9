/** Where the focus was last, dialogs aside. */
let lastOutside: HTMLElement | null = null

document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && target.closest('[role="dialog"]') === null) lastOutside = target
})

/** Back to what opened a dialog; if that is gone, to where one was before any of them. */
export const returnFocusTo = (opener: Element | null): void => {
  const target = opener instanceof HTMLElement && opener.isConnected ? opener : lastOutside
  if (target?.isConnected === true) target.focus({ preventScroll: true })
}
