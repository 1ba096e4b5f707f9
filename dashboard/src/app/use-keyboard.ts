import { useEffect, useRef } from 'react'

export interface Shortcuts {
  /** One key, or two with a blank between: `g o`. `mod+k` is Ctrl or Cmd. */
  readonly [keys: string]: () => void
}

const PAUSE_MS_MAX = 1200

/** Keyboard shortcuts of the page. Inactive in inputs and dialogs. */
export const useKeyboard = (shortcuts: Shortcuts): void => {
  const latest = useRef(shortcuts)
  useEffect(() => {
    latest.current = shortcuts
  })
  useEffect(() => {
    let prefix = ''
    let prefixAtMs = 0
    const onKeyDown = (event: KeyboardEvent): void => {
      const isModified = event.ctrlKey || event.metaKey
      if (event.altKey || event.defaultPrevented) return
      if (!isModified && isTyping(event.target)) return
      const isSequence = prefix !== '' && performance.now() - prefixAtMs < PAUSE_MS_MAX
      const keys = `${isModified ? 'mod+' : ''}${isSequence ? `${prefix} ` : ''}${event.key.toLowerCase()}`
      prefix = ''
      const run = latest.current[keys]
      if (run !== undefined) {
        event.preventDefault()
        run()
      } else if (!isModified && event.key === 'g') {
        prefix = 'g'
        prefixAtMs = performance.now()
      }
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) ||
    target.closest('[role="dialog"]') !== null)
