import { useSyncExternalStore } from 'react'

/** Whether the screen is like this now. */
const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )

/** The width of a phone, as `max-sm:` says it in CSS. */
export const useIsPhone = (): boolean => useMedia('(width < 40rem)')

/** Fingers need more room than a mouse. */
export const useIsTouched = (): boolean => useMedia('(pointer: coarse)')
