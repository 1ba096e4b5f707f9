import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const listeners = new Set<() => void>()

const chosen = (): Theme => {
  const theme = document.documentElement.dataset['theme']
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** System, light, dark, and around. Kept in this browser; read before the first paint by /theme.js. */
export const switchTheme = (): Theme => {
  const next = NEXT[chosen()]
  if (next === 'system') {
    delete document.documentElement.dataset['theme']
    localStorage.removeItem('theme')
  } else {
    document.documentElement.dataset['theme'] = next
    localStorage.setItem('theme', next)
  }
  for (const listener of listeners) listener()
  return next
}

const subscribe = (listener: () => void): (() => void) => {
  const system = matchMedia('(prefers-color-scheme: dark)')
  listeners.add(listener)
  system.addEventListener('change', listener)
  return () => {
    listeners.delete(listener)
    system.removeEventListener('change', listener)
  }
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosen)

/** Whether the page is dark now. For what CSS cannot colour. */
export const useIsDark = (): boolean =>
  useSyncExternalStore(subscribe, () => {
    const theme = chosen()
    return theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  })
